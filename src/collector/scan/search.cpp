#include "collector/scan/search.hpp"

#include <algorithm>

#include "guide/guide.hpp"
#include "heap/object.hpp"
#include "os/clock.hpp"

namespace isotherm::collector {

namespace {

/// Between two pieces a search rests, so that others can take the lock, and waits for it so long:
/// as for a page-out, but not for a window.
constexpr std::uint64_t kSearchRestUs = 1000;
constexpr std::chrono::milliseconds kSearchPatience{100};

class hot_compaction_search final : public guides::slot_visitor {
 public:
  hot_compaction_search(const policy& decides, const heap::sparse_extents& extents,
                        std::vector<candidate>& candidates)
      : policy_(decides), extents_(extents), candidates_(candidates) {}
  bool wants_pause() const noexcept override { return is_full(candidates_, kListBytes); }
  guides::verdict visit(guides::slot_word& slot) override {
    const guides::word w = slot.load_acquire();
    if (!guides::is_null(w) && guides::heap_of(w) == heap::kind::hot &&
        extents_.contains(guides::pointer_of(w))) {
      list(candidates_, to_hot(slot, policy_, w));
    }
    return guides::verdict::keep_due;
  }

 private:
  const policy& policy_;
  const heap::sparse_extents& extents_;
  std::vector<candidate>& candidates_;
};

class object_search final : public guides::slot_visitor {
 public:
  object_search(const policy& decides, const heap::range& where, std::vector<seen_object>& found)
      : policy_(decides), where_(where), found_(found) {}
  bool wants_pause() const noexcept override { return os::monotonic_ns() >= end_ns_; }
  guides::verdict visit(guides::slot_word& slot) override {
    const guides::word w = slot.load_acquire();
    if (guides::is_null(w) || guides::has_left(w) || is_elsewhere(w)) {
      return guides::verdict::keep_due;
    }
    const void* const object = guides::pointer_of(w);
    const std::size_t bytes = heap::room_of(object);
    if (guides::address_of(w) + bytes > where_.begin) {
      found_.push_back({guides::address_of(w), bytes, policy_.rate_now(w), guides::is_accessed(w)});
    }
    return guides::verdict::keep_due;
  }

 private:
  /// Whether the object lies elsewhere, as far as can be said without a look at it.
  bool is_elsewhere(guides::word w) const noexcept {
    constexpr unsigned kAnySize = (1U << guides::kSizeBits) - 1;
    const unsigned size_class = guides::size_class_of(w);
    const std::uint64_t begin = guides::address_of(w);
    return begin >= where_.end ||
           (size_class != kAnySize && begin + guides::size_of_class(size_class) <= where_.begin);
  }

  const policy& policy_;
  const heap::range where_;
  std::vector<seen_object>& found_;
  static constexpr std::uint64_t kPieceNs = std::chrono::nanoseconds(kSearchPiece).count();
  const std::uint64_t end_ns_ = os::monotonic_ns() + kPieceNs;
};

/// Finds the objects of some extents, to be moved in the order of their addresses: so each page of
/// COLD is read once, and of HOT one extent after the other is empty, as far as one list has them.
class search_in_order final : public guides::slot_visitor {
 public:
  search_in_order(const policy& decides, const heap::sparse_extents& extents)
      : policy_(decides), where_(extents.where()), extents_(extents) {
    found_.reserve(kFoundInOrder);
  }
  bool wants_pause() const noexcept override {
    return found_.size() + guides::kGranuleSlots > kFoundInOrder;
  }
  guides::verdict visit(guides::slot_word& slot) override {
    const guides::word w = slot.load_acquire();
    if (!guides::is_null(w) && guides::heap_of(w) == where_ &&
        extents_.contains(guides::pointer_of(w))) {
      found_.push_back(
          {guides::address_of(w), where_ == heap::kind::hot
                                      ? to_hot(slot, policy_, w)
                                      : candidate_of(slot, where_, guides::pointer_of(w))});
    }
    return guides::verdict::keep_due;
  }
  /// Those of now: the slots may be gone.
  void list_in_order(std::vector<candidate>& candidates) {
    std::ranges::sort(found_, {}, &addressed::address);
    for (const addressed& each : found_) candidates.push_back(each.one);
  }

 private:
  struct addressed {
    std::uint64_t address;
    candidate one;
  };
  const policy& policy_;
  const heap::kind where_;
  const heap::sparse_extents& extents_;
  std::vector<addressed> found_;
};

}  // namespace

std::optional<std::vector<seen_object>> find_objects(const policy& decides,
                                                     const heap::range& where,
                                                     std::unique_lock<std::timed_mutex>& alone,
                                                     const std::uint64_t& windows) {
  const std::uint64_t began_in = windows;
  std::vector<seen_object> found;
  for (guides::progress so_far; !so_far.is_over;) {
    if (so_far.next != 0) {
      alone.unlock();
      os::sleep_us(kSearchRestUs);
      if (!alone.try_lock_for(kSearchPatience) || windows != began_in) return std::nullopt;
    }
    object_search visitor(decides, where, found);
    guides::visit_registered(visitor, so_far);
  }
  std::ranges::sort(found, {}, &seen_object::address);
  return found;
}

void find_hot_compactions(const policy& decides, const heap::sparse_extents& extents,
                          guides::progress& so_far, std::vector<candidate>& candidates) {
  candidates.clear();
  hot_compaction_search visitor(decides, extents, candidates);
  guides::visit_due(visitor, so_far);
}

void find_in_order(const policy& decides, const heap::sparse_extents& extents,
                   guides::progress& so_far, std::vector<candidate>& candidates) {
  candidates.clear();
  search_in_order visitor(decides, extents);
  // An object that rests in COLD is not due.
  extents.where() == heap::kind::cold ? guides::visit_registered(visitor, so_far)
                                      : guides::visit_due(visitor, so_far);
  visitor.list_in_order(candidates);
}

}  // namespace isotherm::collector
