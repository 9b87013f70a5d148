#include "collector/scan/newborn_queue.hpp"

#include <algorithm>
#include <utility>

#include "collector/scan/candidates.hpp"
#include "os/clock.hpp"

namespace isotherm::collector {

namespace {

/// Births count round.
bool is_before(std::uint32_t one, std::uint32_t other) noexcept {
  return static_cast<std::int32_t>(one - other) < 0;
}

class leaving_search final : public guides::slot_visitor {
 public:
  leaving_search(policy& decides, const heap::sparse_extents& leaving,
                 const heap::sparse_extents& clearing, std::uint32_t end, std::uint64_t end_ns,
                 std::vector<candidate>& candidates)
      : policy_(decides),
        leaving_(leaving),
        clearing_(clearing),
        end_(end),
        end_ns_(end_ns),
        candidates_(candidates) {}

  bool wants_pause() const noexcept override {
    return is_full(candidates_, kListBytes) || os::monotonic_ns() >= end_ns_;
  }
  guides::verdict visit(guides::slot_word& slot) override {
    const guides::word w = slot.load_acquire();
    if (guides::is_null(w) || guides::heap_of(w) != heap::kind::newborn) {
      return guides::verdict::keep_due;
    }
    const void* const object = guides::pointer_of(w);
    const bool leaves = leaving_.contains(object);
    if (!leaves && !clearing_.contains(object)) return guides::verdict::keep_due;
    // Emptied by this round, and opened anew.
    if (!is_before(heap::birth_of(heap::kind::newborn, object), end_)) {
      return guides::verdict::keep_due;
    }
    leaves ? let_leave(slot, w) : clear(slot, w);
    return guides::verdict::keep_due;
  }

 private:
  void let_leave(guides::slot_word& slot, guides::word w) {
    if (policy_.place_of_newborn(w) == heap::kind::hot) {
      list(candidates_, to_hot(slot, policy_, w));
      return;
    }
    guides::word seen = w;
    const guides::word rests = policy_.resting(w);
    // A word that changes meanwhile belongs to an object that is used.
    if (rests != w && !slot.compare_exchange_acq_rel(seen, rests)) return;
    list(candidates_, candidate_of(slot, heap::kind::cold, guides::pointer_of(w)));
  }
  static void clear(guides::slot_word& slot, guides::word w) noexcept {
    // A use meanwhile changes the word, and stays noted.
    guides::word seen = w;
    if (guides::is_accessed(w)) slot.compare_exchange_acq_rel(seen, w & ~guides::kAccessed);
  }

  policy& policy_;
  const heap::sparse_extents &leaving_, &clearing_;
  const std::uint32_t end_;
  const std::uint64_t end_ns_;
  std::vector<candidate>& candidates_;
};

}  // namespace

void newborn_queue::begin(std::uint64_t bytes) {
  const std::vector<heap::aged_extent> all = heap::by_birth(heap::kind::newborn);
  const std::size_t extents = heap::used_extents(heap::kind::newborn);
  leaving_ = clearing_ = heap::sparse_extents(heap::kind::newborn, extents);
  const std::vector<std::uint32_t> cleared = std::exchange(cleared_, {});
  const std::vector<std::uint32_t> chosen = std::exchange(chosen_, {});
  std::uint64_t leaving_bytes = 0;
  has_next_ = false;
  for (const heap::aged_extent& each : all) {
    cleared_.push_back(each.birth);
    end_ = each.birth + 1;  // the youngest is the last
    if (!std::ranges::binary_search(cleared, each.birth)) {
      clearing_.choose(each.number);
      has_next_ = true;
    } else if (std::ranges::binary_search(chosen, each.birth)) {
      chosen_.push_back(each.birth);
    } else if (leaving_bytes < bytes) {
      leaving_.choose(each.number);
      heap::begin_emptying(heap::kind::newborn, each.number);
      leaving_bytes += each.live_bytes;
      chosen_.push_back(each.birth);
    } else {
      has_next_ = true;
    }
  }
  std::ranges::sort(cleared_);
  std::ranges::sort(chosen_);
  so_far_ = {};
}

void newborn_queue::list_leaving(policy& decides, std::uint64_t end_ns,
                                 std::vector<candidate>& candidates) {
  candidates.clear();
  leaving_search visitor(decides, leaving_, clearing_, end_, end_ns, candidates);
  guides::visit_due(visitor, so_far_);
}

}  // namespace isotherm::collector
