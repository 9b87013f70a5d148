// Policies that decide at the end of a window, or before the first.
#include <algorithm>
#include <numeric>
#include <utility>

#include "collector/memory/memory_room.hpp"
#include "collector/memory/return_gate.hpp"
#include "collector/policy/policy.hpp"
#include "collector/policy/unusual_misses.hpp"
#include "guide/word.hpp"
#include "lab/policies/policy.hpp"

namespace isotherm::policies {
namespace {

/// The collector's own policy and its gate (collector/policy/budget.hpp,
/// collector/memory/return_gate.hpp) on guide words of objects that do not exist. The first use of
/// an object makes it, in DRAM. The gate says whether a missed object comes back, or is read past
/// its page and stays out. Objects leave at the end of a window, which comes early when memory is
/// short.
class collected final : public policy {
 public:
  collected(std::uint32_t objects, std::uint32_t room, std::uint64_t window)
      : words_(objects), uses_of_window_(window) {
    chosen_.memory_target_bytes = room * kBytes;
  }
  std::string_view name() const noexcept override { return "rates"; }

  bool use(std::uint32_t object) override {
    const double elapsed = static_cast<double>(uses_) / static_cast<double>(uses_of_window_);
    const bool is_short = kept_ * kBytes > chosen_.memory_target_bytes;
    if (uses_ == uses_of_window_ || is_short || unusual_.end_window_now(gate_.asked(), elapsed)) {
      end_window();
    }
    if (uses_++ % std::max<std::uint64_t>(uses_of_window_ / kLooks, 1) == 0) look();
    guides::word& w = words_[object];
    const bool is_made = guides::is_null(w);
    const bool is_missed = !is_made && guides::heap_of(w) == heap::kind::cold;
    if (is_made) make(w, object);
    if (is_missed) read_past_page(w);
    w = guides::marked(w);
    return !is_made && !is_missed;
  }

 private:
  static constexpr std::uint64_t kBytes = 1024;
  static constexpr unsigned kLooks = 50;  // in a window

  void make(guides::word& w, std::uint32_t object) {
    // Each object has an extent of its own: objects that share an extent leave together.
    w = guides::make_word((object + std::uint64_t{1}) * heap::kTogetherBytes, heap::kind::newborn,
                          kBytes);
    ++kept_;
    ++made_;
  }

  void read_past_page(guides::word& w) {
    const auto before = guides::is_accessed(w) ? heap::used_before::yes : heap::used_before::no;
    const auto history = gate_.admit(w, kBytes, before);
    if (!history) return;
    gate_.note_returned(kBytes);
    w = guides::with_history(guides::moved_to(w, guides::address_of(w), heap::kind::hot), *history);
    ++kept_;
  }

  void end_window() {
    unusual_.end_window(gate_.asked());
    collector::window_statistics seen;
    seen.window_seconds = static_cast<double>(std::exchange(uses_, 0));  // of one use each
    const collector::returned back = gate_.take_returned();
    collector::count_returned(back, seen);
    decides_->note_returned(back);
    decides_->begin_ageing(chosen_);
    for (guides::word& w : words_) {
      const bool is_used = guides::is_accessed(w), is_cold = guides::heap_of(w) == heap::kind::cold;
      if (guides::is_null(w) || (is_cold && !is_used)) continue;
      seen.accessed_objects += is_used;
      seen.accessed_cold_objects += is_cold;
      w = decides_->age(w);
      if (is_cold) missed_.push_back(&w);
    }
    const std::uint64_t bytes = kept_ * kBytes;
    decides_->weigh(chosen_,
                    {.target_bytes = chosen_.memory_target_bytes,
                     .dram_bytes = bytes,
                     .warm_bytes = bytes,
                     .warm_object_bytes = bytes,
                     .cold_objects = made_ - kept_,
                     .spread = 1},
                    seen);
    gate_.write(decides_->returns());
    for (guides::word* w : std::exchange(missed_, {})) *w = decides_->resting(*w);
    for (guides::word& w : words_) {
      if (guides::is_null(w) || guides::heap_of(w) == heap::kind::cold) continue;
      const heap::kind to = decides_->target(w).value_or(heap::kind::hot);
      if (to == heap::kind::cold) w = decides_->resting(w);
      w = guides::moved_to(w, guides::address_of(w), to);
      kept_ -= to == heap::kind::cold;
    }
    decides_->adapt(chosen_, 0, seen);
    look();
  }

  void look() {
    gate_.allow(collector::memory_room{.dram_bytes = kept_ * kBytes,
                                       .target_bytes = chosen_.memory_target_bytes}
                    .returnable_bytes());
  }

  std::vector<guides::word> words_;
  std::vector<guides::word*> missed_;
  std::uint64_t made_ = 0, kept_ = 0;
  std::uint64_t uses_ = 0;  // in the window
  const std::uint64_t uses_of_window_;
  collector::unusual_misses unusual_;
  collector::options chosen_;
  collector::return_gate gate_;
  std::unique_ptr<collector::policy> decides_ =
      collector::make_policy(collector::policy_name::budget);
};

class best_static final : public policy {
 public:
  best_static(const std::vector<std::uint64_t>& popularity, std::uint32_t room)
      : is_kept_(popularity.size()) {
    std::vector<std::uint32_t> order(popularity.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::nth_element(order, order.begin() + room, std::greater(),
                             [&](std::uint32_t object) { return popularity[object]; });
    for (std::uint32_t i = 0; i < room; ++i) is_kept_[order[i]] = true;
  }
  std::string_view name() const noexcept override { return "best static"; }
  bool use(std::uint32_t object) override { return is_kept_[object]; }

 private:
  std::vector<bool> is_kept_;
};

}  // namespace

std::unique_ptr<policy> make_rates(std::uint32_t objects, std::uint32_t room,
                                   std::uint64_t window) {
  return std::make_unique<collected>(objects, room, window);
}
std::unique_ptr<policy> make_best_static(const std::vector<std::uint64_t>& popularity,
                                         std::uint32_t room) {
  return std::make_unique<best_static>(popularity, room);
}

}  // namespace isotherm::policies
