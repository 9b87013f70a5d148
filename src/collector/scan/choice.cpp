#include "collector/scan/choice.hpp"

#include <algorithm>
#include <optional>

#include "guide/guide.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/object.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::collector {

namespace {

/// The objects that may come back from COLD: without a read of the disk, and within some bytes.
class promotable {
 public:
  explicit promotable(std::uint64_t bytes) : left_(bytes) {}
  /// The first one may take all the room, of which `bytes` are half.
  bool has_room_for(const void* object) const {
    const std::size_t bytes = heap::room_of(object);
    return (is_first_ ? bytes / 2 : bytes) <= left_ && !heap::is_out(object);
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
         const choice_limits& limits, std::vector<candidate>& candidates)
      : policy_(decides),
        parts_(parts),
        part_(part),
        limits_(limits),
        promotable_(limits.promotable_bytes),
        candidates_(candidates) {}

  bool wants_pause() const noexcept override { return is_full(candidates_, limits_.list_bytes); }
  std::uint64_t held_back() const noexcept { return held_back_; }

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
    if (target == heap::kind::cold && policy_.rate_now(w) > limits_.demotable) {
      target.reset();
      ++held_back_;
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
  const choice_limits limits_;
  promotable promotable_;
  std::vector<candidate>& candidates_;
  std::uint64_t held_back_ = 0;
};

}  // namespace

source_parts::source_parts(std::uint64_t count, newborns of_new)
    : count_(std::max(count, std::uint64_t{1})), newborns_(of_new) {
  for (const heap::kind where : {heap::kind::newborn, heap::kind::hot}) {
    ends_[where] = heap::cut_evenly(where, count_);
  }
}

bool source_parts::contains(std::uint64_t number, heap::kind where,
                            const void* object) const noexcept {
  if (where == heap::kind::cold) return number == count_ - 1;
  if (where == heap::kind::newborn && newborns_ == newborns::wait) return false;
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

std::uint64_t choose(policy& decides, const source_parts& parts, std::uint64_t part,
                     const choice_limits& limits, guides::progress& so_far,
                     std::vector<candidate>& candidates) {
  candidates.clear();
  choice visitor(decides, parts, part, limits, candidates);
  guides::visit_due(visitor, so_far);
  return visitor.held_back();
}

}  // namespace isotherm::collector
