#include "collector/policy/budget.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace isotherm::collector {

namespace {

/// So far below the target a window's end aims, so that it is not exceeded until the next one.
constexpr double kHysteresis = 1.0 / 32;

class budget_policy final : public policy {
 public:
  policy_name name() const noexcept override { return policy_name::budget; }

  void begin_ageing(const options&) override {
    memory_.end_window();
    warm_.fill(0);
    missed_.fill(0);
    newborn_ = 0;
  }

  guides::word age(guides::word w) override {
    const bool is_used = guides::is_accessed(w);
    const heap::kind where = guides::heap_of(w);
    w &= ~guides::kAccessed;
    auto before = static_cast<rate>(guides::history_of(w));
    if (where == heap::kind::cold) {
      if (!is_used) return w;
      const rate now = used_in_cold(before);
      ++missed_[now];
      return guides::with_history(w, now);
    }
    if (where == heap::kind::newborn) {
      ++newborn_;
      // Nothing is known of it: it is taken for one that is just worth its room.
      if (before == kUnknown && cut_ < kRates) before = static_cast<rate>(cut_);
    }
    const std::uint16_t random = random_bits();
    const rate now = is_used ? memory_.used(before, random) : memory_.idle(before, random);
    const rate known = std::max(now, static_cast<rate>(kUnknown + 1));
    ++warm_[known];
    return guides::with_history(w, known);
  }

  void weigh(const options& chosen, const memory_state& now,
             const window_statistics& seen) override {
    memory_.note(seen.accessed_objects, seen.accessed_cold_objects);
    cut_ = 0;
    left_at_cut_ = 0;
    if (now.target_bytes != 0) keep(room_for_objects(now) / now.bytes_each);
    if (chosen.memory_target_bytes != 0) return;
    const double allowed = allowed_misses(chosen, seen.accessed_objects, seen.window_seconds);
    if (const unsigned worth = cut_for_misses(warm_, missed_, allowed); worth > cut_) {
      cut_ = worth;
      left_at_cut_ = 0;
    }
  }

  std::optional<heap::kind> target(guides::word w) override {
    using heap::kind;
    const auto now = static_cast<rate>(guides::history_of(w));
    switch (guides::heap_of(w)) {
      case kind::cold:
        return stays(now) ? std::optional(kind::hot) : std::nullopt;
      case kind::hot:
        if (guides::is_accessed(w) || stays(now)) return std::nullopt;
        return kind::cold;
      default:
        if (now == kUnknown) return std::nullopt;  // made since the window's end
        return guides::is_accessed(w) || stays(now) ? kind::hot : kind::cold;
    }
  }

  std::optional<guides::word> returning(guides::word w) override {
    const rate now = used_in_cold(static_cast<rate>(guides::history_of(w)));
    return stays(now) ? std::optional(guides::with_history(w, now)) : std::nullopt;
  }

  guides::word resting(guides::word w) const noexcept override {
    return guides::with_history(w, memory_.left_alone(static_cast<rate>(guides::history_of(w))));
  }

  std::uint64_t expected_moves() const noexcept override {
    std::uint64_t moves = newborn_;
    for (unsigned r = 0; r < kRates; ++r) moves += r < cut_ ? warm_[r] : missed_[r];
    return moves;
  }

  void adapt(const options&, std::uint64_t, window_statistics& seen) override {
    seen.kept_rate = cut_ < kRates ? share_of(static_cast<rate>(cut_)) : 1;
    seen.rate_windows = memory_.length();
  }

  std::uint64_t page_out_bytes(const options& chosen, const window_statistics&, double) override {
    return chosen.page_out_bytes_per_window;
  }

 private:
  static constexpr rate kUnknown = 0;

  /// The rate of an object of COLD after a use.
  rate used_in_cold(rate kept) noexcept {
    return memory_.used(memory_.looked_at(kept), random_bits());
  }

  /// Of the target, what is left to objects in DRAM.
  static double room_for_objects(const memory_state& now) noexcept {
    const std::uint64_t counted = now.warm_bytes + now.file_bytes;
    const std::uint64_t others = now.dram_bytes - std::min(now.dram_bytes, counted);
    return static_cast<double>(now.target_bytes) * (1 - kHysteresis) -
           static_cast<double>(others + now.cold_limit_bytes);
  }

  /// Keeps so many objects, the most used first.
  void keep(double most) {
    auto objects = static_cast<std::uint64_t>(std::max(most, 0.0));
    rate_histogram all = warm_;
    for (unsigned r = 0; r < kRates; ++r) all[r] += missed_[r];
    cut_ = cut_for(all, objects);
    for (unsigned r = cut_; r < kRates; ++r) objects -= all[r];
    left_at_cut_ = objects;
  }

  /// Whether an object stays in DRAM, or comes back: of those just below the cut some have room.
  bool stays(rate now) noexcept {
    if (now >= cut_) return true;
    if (now + 1u < cut_ || left_at_cut_ == 0) return false;
    --left_at_cut_;
    return true;
  }
  std::uint16_t random_bits() noexcept { return static_cast<std::uint16_t>(random_()); }

  use_memory memory_;
  rate_histogram warm_{}, missed_{};
  std::uint64_t newborn_ = 0;      // objects of NEW that were aged in this window
  unsigned cut_ = 0;               // from this rate on an object is kept
  std::uint64_t left_at_cut_ = 0;  // how many of the rate below it are kept as well
  base::random random_{1};         // for rounding
};

}  // namespace

unsigned cut_for_misses(const rate_histogram& warm, const rate_histogram& missed,
                        double misses) noexcept {
  // What was read in COLD in this window will be about as much in the next, less what comes back.
  double expected = 0;
  for (unsigned r = 0; r < kRates; ++r) {
    expected += static_cast<double>(missed[r]) * (1 - share_of(static_cast<rate>(r)));
  }
  for (unsigned r = 0; r < kRates; ++r) {
    expected += static_cast<double>(warm[r] + missed[r]) * share_of(static_cast<rate>(r));
    if (expected > misses) return r;
  }
  return kRates;
}

double allowed_misses(const options& chosen, std::uint64_t used, double seconds) noexcept {
  return std::min(chosen.miss_share * static_cast<double>(used),
                  chosen.misses_per_second * seconds);
}

std::unique_ptr<policy> make_budget_policy() { return std::make_unique<budget_policy>(); }

}  // namespace isotherm::collector
