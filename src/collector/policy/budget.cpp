#include "collector/policy/budget.hpp"

#include <algorithm>
#include <utility>

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
    known_.fill(0);
    used_ = std::exchange(returned_, {});
    missed_ = 0;
    newborn_ = 0;
  }

  guides::word age(guides::word w) override {
    const bool is_used = guides::is_accessed(w);
    const heap::kind where = guides::heap_of(w);
    w &= ~guides::kAccessed;
    auto before = static_cast<rate>(guides::history_of(w));
    if (where == heap::kind::cold) {
      if (!is_used) return w;
      before = memory_.looked_at(before);
      const rate now = memory_.used(before, random_bits());
      ++used_[std::max(before, kNever)];
      ++missed_;
      const rate kept = memory_.left_alone(now);
      ++known_[memory_.looked_at(kept)];
      return guides::with_history(w, kept);
    }
    if (where == heap::kind::newborn) {
      ++newborn_;
      // Nothing is known of it: it is taken for one that is just worth its room.
      if (before == kUnknown) before = static_cast<rate>(cut_);
    }
    if (is_used) ++used_[std::max(before, kNever)];
    const std::uint16_t random = random_bits();
    const rate now = is_used ? memory_.used(before, random) : memory_.idle(before, random);
    const rate known = std::max(now, kNever);
    ++known_[known];
    return guides::with_history(w, known);
  }

  void weigh(const options& chosen, const memory_state& now,
             const window_statistics& seen) override {
    memory_.note(seen.accessed_objects, seen.accessed_cold_objects, predicted_share_);
    set_cut(0, 1);
    if (now.target_bytes != 0) keep(room_for_objects(now) / now.bytes_each);
    if (chosen.memory_target_bytes == 0) {
      let_go(allowed_misses(chosen, seen.accessed_objects, seen.window_seconds));
    }
    predicted_share_ = share_below_cut(seen.accessed_objects);
  }

  std::optional<heap::kind> target(guides::word w) override {
    using heap::kind;
    const auto now = static_cast<rate>(guides::history_of(w));
    switch (guides::heap_of(w)) {
      case kind::cold:
        return stays(w, memory_.looked_at(now)) ? std::optional(kind::hot) : std::nullopt;
      case kind::hot:
        if (guides::is_accessed(w) || stays(w, now)) return std::nullopt;
        return kind::cold;
      default:
        if (now == kUnknown) return std::nullopt;  // made since the window's end
        return guides::is_accessed(w) || stays(w, now) ? kind::hot : kind::cold;
    }
  }

  std::optional<guides::word> returning(guides::word w) override {
    const rate before = memory_.looked_at(static_cast<rate>(guides::history_of(w)));
    const rate now = memory_.used(before, random_bits());
    if (!stays(w, now)) return std::nullopt;
    ++returned_[std::max(before, kNever)];
    // As in COLD: the move may fail. In HOT that is the same rate, to within an eighth of an
    // octave.
    return guides::with_history(w, memory_.left_alone(now));
  }

  guides::word resting(guides::word w) const noexcept override {
    if (guides::heap_of(w) == heap::kind::cold) return w;  // since age()
    return guides::with_history(w, memory_.left_alone(static_cast<rate>(guides::history_of(w))));
  }

  std::uint64_t expected_moves() const noexcept override {
    std::uint64_t moves = newborn_ + missed_;
    for (unsigned r = 0; r < cut_; ++r) moves += known_[r];
    return moves;
  }

  void adapt(const options&, std::uint64_t, window_statistics& seen) override {
    seen.kept_rate = share_of(static_cast<rate>(cut_));
    seen.rate_windows = memory_.length();
  }

  std::uint64_t page_out_bytes(const options& chosen, const window_statistics&, double) override {
    return chosen.page_out_bytes_per_window;
  }

 private:
  static constexpr rate kUnknown = 0, kNever = 1;

  /// Of the target, what is left to objects in DRAM.
  static double room_for_objects(const memory_state& now) noexcept {
    const std::uint64_t counted = now.warm_bytes + now.file_bytes;
    const std::uint64_t others = now.dram_bytes - std::min(now.dram_bytes, counted);
    return static_cast<double>(now.target_bytes) * (1 - kHysteresis) -
           static_cast<double>(others + now.cold_limit_bytes);
  }

  /// Keeps so many objects, the most used first.
  void keep(double most) {
    const auto objects = static_cast<std::uint64_t>(std::max(most, 0.0));
    const unsigned all_stay = cut_for(known_, objects);
    if (all_stay == 0) return;
    std::uint64_t left = objects;
    for (unsigned r = all_stay; r < kRates; ++r) left -= known_[r];
    const unsigned at = all_stay - 1;
    set_cut(at, static_cast<double>(left) / static_cast<double>(std::max(known_[at], left + 1)));
  }

  /// Lets go the objects whose misses together are allowed, if these are more.
  void let_go(double misses) {
    const unsigned before = cut_for_misses(used_, known_, misses);
    if (before == kRates) return set_cut(kRates - 1, 0);
    // What was not used lost a little of its rate at the window's end.
    const rate now = std::max(memory_.idle(static_cast<rate>(before), 0), kNever);
    if (now > cut_) set_cut(now, 1);
  }

  void set_cut(unsigned at, double staying) noexcept {
    cut_ = at;
    draw_ = random_();
    staying_below_ =
        staying >= 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(staying * 0x1p64);
  }

  /// Of what was used in the window, what was used so seldom before that it would have been in COLD
  /// with this cut.
  double share_below_cut(std::uint64_t used) const noexcept {
    std::uint64_t below = 0;
    for (unsigned r = 0; r < cut_; ++r) below += used_[r];
    return used > 0 ? static_cast<double>(below) / static_cast<double>(used) : 0;
  }

  /// Whether an object stays in DRAM, or comes back. Of those with the rate of the cut, which may
  /// be most of all, a share does: by the address, for that it is asked for again says nothing new.
  bool stays(guides::word w, rate now) const noexcept {
    if (now != cut_) return now > cut_;
    return base::mix64(guides::address_of(w) ^ draw_) <= staying_below_;
  }

  std::uint16_t random_bits() noexcept { return static_cast<std::uint16_t>(random_()); }

  use_memory memory_;
  rate_histogram known_{};      // of NEW and HOT, and what was used in COLD
  rate_histogram used_{};       // in the window, by the rate before it
  rate_histogram returned_{};   // likewise in the next, what came back between windows
  std::uint64_t missed_ = 0;    // of what was used, still in COLD at the window's end
  double predicted_share_ = 0;  // of misses in what is used, by the cut of the last window
  std::uint64_t newborn_ = 0;   // objects of NEW that were aged in this window
  unsigned cut_ = 0;            // what has a higher rate is kept
  std::uint64_t staying_below_ = ~std::uint64_t{0};  // and of what has it, such a share (in 2^-64)
  std::uint64_t draw_ = 0;                           // which of them, in this window
  base::random random_{1};                           // for rounding
};

}  // namespace

unsigned cut_for_misses(const rate_histogram& used, const rate_histogram& known,
                        double misses) noexcept {
  double seen = 0, expected = 0;
  for (unsigned r = 0; r < kRates; ++r) {
    seen += static_cast<double>(used[r]);
    expected += static_cast<double>(known[r]) * share_of(static_cast<rate>(r));
    if (std::max(seen, expected) > misses) return r;
  }
  return kRates;
}

double allowed_misses(const options& chosen, std::uint64_t used, double seconds) noexcept {
  return std::min(chosen.miss_share * static_cast<double>(used),
                  chosen.misses_per_second * seconds);
}

std::unique_ptr<policy> make_budget_policy() { return std::make_unique<budget_policy>(); }

}  // namespace isotherm::collector
