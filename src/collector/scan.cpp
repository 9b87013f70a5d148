#include "collector/scan.hpp"

#include <algorithm>
#include <functional>

#include "base/check.hpp"
#include "base/page.hpp"
#include "collector/migration.hpp"
#include "collector/policy/page_out.hpp"
#include "collector/policy/threshold.hpp"
#include "guide/guide.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/object.hpp"
#include "heap/usage.hpp"
#include "os/clock.hpp"

namespace isotherm::collector {

namespace {

/// Between two pieces a search rests, so that others can take the lock, and waits for it so long:
/// as for a page-out, but not for a window.
constexpr std::uint64_t kSearchRestUs = 1000;
constexpr std::chrono::milliseconds kSearchPatience{100};

/// An extent of HOT is worth emptying when so much of what lives there is misplaced: fewer are not
/// worth the copies of their neighbours.
constexpr double kWorthSorting = 1.0 / 16;
/// To sort HOT may cost so much: about a hundredth of a processor's time.
constexpr double kSortingBytesPerSecond = 8 << 20;
/// What the visit of a guide costs, in bytes that could be copied meanwhile.
constexpr std::uint64_t kVisitCostBytes = 32;
/// Objects that find_in_order() lists at a time, and extents that surely have no more.
constexpr std::size_t kFoundInOrder = kListBytes / sizeof(candidate);
constexpr std::uint64_t kInOneList = (kFoundInOrder - guides::kGranuleSlots) * kMoveCostBytes;
/// What is saved of that time at most: enough for an extent of the smallest objects.
constexpr std::uint64_t kMostSaved = 2 * kInOneList;

/// False for nearly all words that are no guide's.
bool is_word_of_object(guides::word w) noexcept {
  return heap::holds_objects(guides::heap_of(w)) &&
         heap::range_of(guides::heap_of(w)).contains(guides::pointer_of(w));
}

/// True when the candidates of another granule may not fit in `bytes`; of an empty list never.
bool is_full(const std::vector<candidate>& candidates, std::size_t bytes) noexcept {
  return !candidates.empty() &&
         (candidates.size() + guides::kGranuleSlots) * sizeof(candidate) > bytes;
}

candidate candidate_of(guides::slot_word& slot, heap::place target, const void* object) noexcept {
  return {&slot, target, heap::is_out(object), static_cast<std::uint32_t>(heap::room_of(object))};
}

/// To HOT, or within it, the object of `w`.
candidate to_hot(guides::slot_word& slot, const policy& decides, guides::word w) noexcept {
  const void* const object = guides::pointer_of(w);
  std::optional<heap::band> now;
  if (guides::heap_of(w) == heap::kind::hot) now = heap::band_of(object);
  return candidate_of(slot, {heap::kind::hot, decides.band(w, now)}, object);
}

/// A COLD object that nobody used needs no scan until it is dereferenced. A count that stayed
/// behind, or the lock of a relocated guide, is for a later scan to clear, or it would pin until
/// the next use.
guides::verdict verdict_of(guides::word w) noexcept {
  const bool rests = guides::heap_of(w) == heap::kind::cold && !guides::is_accessed(w) &&
                     !guides::is_counted(w) && !guides::is_locked(w);
  return rests ? guides::verdict::drop_due : guides::verdict::keep_due;
}

/// What may come back from COLD without a read of the disk, and within its bytes.
class promotable {
 public:
  explicit promotable(std::uint64_t bytes) : left_(bytes) {}
  /// The first one may take all the room, of which `bytes` are half.
  bool has_room_for(const void* object) const {
    const std::size_t bytes = heap::room_of(object);
    return (is_first_ ? bytes / 2 : bytes) <= left_ && heap::is_in_dram(object);
  }
  void take(const void* object) {
    left_ -= std::min<std::uint64_t>(left_, heap::room_of(object));
    is_first_ = false;
  }

 private:
  std::uint64_t left_;
  bool is_first_ = true;
};

class choice final : public guides::slot_visitor {
 public:
  choice(policy& decides, const source_parts& parts, std::uint64_t part,
         std::uint64_t promotable_bytes, std::vector<candidate>& candidates, std::size_t list_bytes)
      : policy_(decides),
        parts_(parts),
        part_(part),
        promotable_(promotable_bytes),
        candidates_(candidates),
        list_bytes_(list_bytes) {}

  bool wants_pause() const noexcept override { return is_full(candidates_, list_bytes_); }

  guides::verdict visit(guides::slot_word& slot) override {
    guides::word w = slot.load_acquire();
    if (guides::is_null(w)) return guides::verdict::keep_due;
    const void* object = guides::pointer_of(w);
    const heap::kind where = guides::heap_of(w);
    if (!parts_.contains(part_, where, object)) return guides::verdict::keep_due;
    std::optional<heap::kind> target = policy_.target(w);
    if (target && where == heap::kind::cold) {
      if (promotable_.has_room_for(object)) {
        promotable_.take(object);
      } else {
        target.reset();
      }
    }
    const bool rests = target ? target == heap::kind::cold : where == heap::kind::cold;
    if (rests) {
      // Used meanwhile: it is not cold.
      const guides::word next = policy_.resting(w);
      if (next != w && !slot.compare_exchange_acq_rel(w, next)) return guides::verdict::keep_due;
      w = next;
    }
    if (!target) return verdict_of(w);
    list(candidates_, *target == heap::kind::hot ? to_hot(slot, policy_, w)
                                                 : candidate_of(slot, *target, object));
    return guides::verdict::keep_due;
  }

 private:
  policy& policy_;
  const source_parts& parts_;
  const std::uint64_t part_;
  promotable promotable_;
  std::vector<candidate>& candidates_;
  const std::size_t list_bytes_;
};

class return_search final : public guides::slot_visitor {
 public:
  return_search(policy& decides, std::uint64_t promotable_bytes, std::vector<candidate>& candidates)
      : policy_(decides), promotable_(promotable_bytes), candidates_(candidates) {}
  bool wants_pause() const noexcept override { return is_full(candidates_, kListBytes); }
  guides::verdict visit(guides::slot_word& slot) override {
    guides::word w = slot.load_acquire();
    if (guides::is_null(w) || guides::heap_of(w) != heap::kind::cold || !guides::is_accessed(w)) {
      return guides::verdict::keep_due;
    }
    // The policy first: whether a page is in DRAM is a system call.
    const void* object = guides::pointer_of(w);
    const auto next = policy_.returning(w);
    if (!next || !promotable_.has_room_for(object)) return guides::verdict::keep_due;
    if (slot.compare_exchange_acq_rel(w, *next)) {
      policy_.note_return(w);
      promotable_.take(object);
      list(candidates_, to_hot(slot, policy_, *next));
    }
    return guides::verdict::keep_due;
  }

 private:
  policy& policy_;
  promotable promotable_;
  std::vector<candidate>& candidates_;
};

class clearing final : public guides::slot_visitor {
 public:
  guides::verdict visit(guides::slot_word& slot) override {
    guides::word seen = slot.load_relaxed();
    while (guides::history_of(seen) != 0 &&
           !slot.compare_exchange_weak_acq_rel(seen, guides::with_history(seen, 0))) {
    }
    return guides::verdict::keep_due;
  }
};

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
  /// As far as can be said without a look at the object.
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

guides::verdict ageing::age(guides::slot_word& slot, guides::word seen) {
  if (guides::is_null(seen)) return guides::verdict::keep_due;
  ISO_CHECK(is_word_of_object(seen),
            "where a guide was made lies something else: its memory went without its destructor");
  const bool was_used = guides::is_accessed(seen);
  if (was_used) record_use(seen);
  // No copy is in flight during a scan: a lock is that of a relocated guide, which may move again.
  const guides::word aged = guides::unlocked(policy_.age(seen));
  const guides::word next = counts_ == counts_left::cleared ? guides::without_counts(aged) : aged;
  if (page_uses* const uses = pages_.uses()) {
    uses->add_rate(next, heap::room_of(guides::pointer_of(next)), policy_.rate_now(next));
  }
  if (guides::heap_of(next) == heap::kind::hot) order_.note(policy_, next);
  if (next != seen && !slot.compare_exchange_acq_rel(seen, next)) {
    return guides::verdict::keep_due;
  }
  // What was used in COLD has to be chosen yet.
  return was_used ? guides::verdict::keep_due : verdict_of(next);
}

void hot_order::note(const policy& decides, guides::word w) noexcept {
  const void* const object = guides::pointer_of(w);
  const std::size_t extent = heap::extent_of(heap::kind::hot, object);
  if (extent >= extents_.size()) return;
  const std::uint64_t bytes = guides::size_of_class(guides::size_class_of(w));
  ++guides_;
  extents_[extent].bytes += bytes;
  extents_[extent].cost += bytes + kMoveCostBytes;
  const heap::band now = heap::band_of(object);
  if (decides.band(w, now) != now) extents_[extent].misplaced += bytes;
}

std::vector<hot_order::costly_extent> hot_order::out_of_order() const {
  std::vector<costly_extent> found;
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const sum& each = extents_[i];
    const auto misplaced = static_cast<double>(each.misplaced);
    const bool is_worth_it =
        each.misplaced > 0 && misplaced >= kWorthSorting * static_cast<double>(each.bytes);
    if (!is_worth_it || !heap::is_closed_and_used(heap::kind::hot, i)) continue;
    found.push_back({misplaced / static_cast<double>(each.cost), each.cost, i});
  }
  std::ranges::sort(found, std::greater(), &costly_extent::gain);
  return found;
}

std::vector<heap::sparse_extents> hot_order::worst(double seconds) {
  const auto earned = static_cast<std::uint64_t>(seconds * kSortingBytesPerSecond);
  time_ = std::min(time_ + earned, std::max(earned, kMostSaved));
  const std::uint64_t pass = guides_ * kVisitCostBytes;
  std::vector<heap::sparse_extents> groups;
  std::uint64_t room = 0;  // in the list of the last group
  for (const costly_extent& each : out_of_order()) {
    // The first group's pass is not counted: there has been one of them for the window anyway.
    const std::uint64_t visits = groups.empty() || each.cost <= room ? 0 : pass;
    if (each.cost + visits > time_) continue;
    if (groups.empty() || each.cost > room) {
      groups.emplace_back(heap::kind::hot, extents_.size());
      room = kInOneList;
    }
    groups.back().choose(each.number);
    room -= std::min(room, each.cost);
    time_ -= each.cost + visits;
  }
  return groups;
}

void ageing::expect(guides::word w) const noexcept {
  if (guides::is_null(w) || !(guides::is_accessed(w) || pages_.uses())) return;
  if (guides::heap_of(w) != heap::kind::cold) heap::fetch_size(guides::pointer_of(w));
}

void ageing::record_use(guides::word w) {
  const void* object = guides::pointer_of(w);
  // Of COLD without a look at the object, whose page may have left DRAM since.
  const bool is_cold = guides::heap_of(w) == heap::kind::cold;
  const std::size_t bytes = is_cold ? heap::room_of(object) : heap::object_size(object);
  ++statistics_.accessed_objects;
  statistics_.accessed_bytes += bytes;
  statistics_.accessed_cold_objects += is_cold;
  // A use in its place brings the page back and clears the mark (packed_heap::note_use).
  const bool is_past = is_cold && heap::is_out(object);
  if (is_past) statistics_.read_past_bytes += bytes;
  pages_.add(guides::heap_of(w), object, bytes,
             is_past ? usage_path::read_past : usage_path::in_place);
  statistics_.read_past_pages = pages_.count_read_past();
}

void measure(const touched_pages& pages, window_statistics& seen) {
  seen.accessed_pages = seen.working_set_pages = pages.count();
  seen.accessed_cold_pages += pages.count(heap::kind::cold);
  seen.page_utilization = page_utilization_of(seen);
  seen.promotion_rate =
      promotion_rate(seen.accessed_cold_pages, seen.working_set_pages, seen.window_seconds);
  const std::uint64_t cold_bytes = heap::packing_of(heap::kind::cold).used_bytes;
  seen.cold_rest_seconds = mean_rest_seconds(cold_bytes / base::kPageBytes,
                                             seen.accessed_cold_pages, seen.window_seconds);
}

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

source_parts::source_parts(std::uint64_t count) : count_(std::max(count, std::uint64_t{1})) {
  for (const heap::kind where : {heap::kind::newborn, heap::kind::hot}) {
    ends_[where] = heap::cut_evenly(where, count_);
  }
}

bool source_parts::contains(std::uint64_t number, heap::kind where,
                            const void* object) const noexcept {
  if (where == heap::kind::cold) return number == count_ - 1;
  const std::vector<std::uintptr_t>& ends = ends_[where];
  const auto part = std::ranges::upper_bound(ends, reinterpret_cast<std::uintptr_t>(object));
  // Behind all ends, where also lies what was made since, is the last.
  return number ==
         (part == ends.end() ? count_ - 1 : static_cast<std::uint64_t>(part - ends.begin()));
}

std::uintptr_t source_parts::end_of_hot(std::uint64_t number) const noexcept {
  const std::vector<std::uintptr_t>& ends = ends_[heap::kind::hot];
  return number < ends.size() ? ends[number] : ~std::uintptr_t{0};
}

void choose(policy& decides, const source_parts& parts, std::uint64_t part,
            std::uint64_t promotable_bytes, guides::progress& so_far,
            std::vector<candidate>& candidates, std::size_t list_bytes) {
  candidates.clear();
  choice visitor(decides, parts, part, promotable_bytes, candidates, list_bytes);
  guides::visit_due(visitor, so_far);
}

void choose_returning(policy& decides, std::uint64_t promotable_bytes, guides::progress& so_far,
                      std::vector<candidate>& candidates) {
  candidates.clear();
  return_search visitor(decides, promotable_bytes, candidates);
  guides::visit_due(visitor, so_far);
}

void clear_histories() {
  clearing visitor;
  guides::visit_registered(visitor);
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
  // What rests in COLD is not due.
  extents.where() == heap::kind::cold ? guides::visit_registered(visitor, so_far)
                                      : guides::visit_due(visitor, so_far);
  visitor.list_in_order(candidates);
}

}  // namespace isotherm::collector
