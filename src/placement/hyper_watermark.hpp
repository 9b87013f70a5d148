// The hyper watermark (SINLK, 4.3): how full fast memory is decides what may be allocated there,
// what counts as hot and as cold, and how far up the tree a demotion goes. A pure state machine.
#pragma once

#include <cstdint>

namespace isotherm::placement {

/// The parameters that the watermark adjusts.
struct parameters {
  double hot_share = 0;       ///< P_hot: of the leaves, those to be called hot
  double cold_share = 0;      ///< P_cold
  unsigned fast_levels = 0;   ///< L_fast: nodes of lower levels than this begin in fast memory
  unsigned demote_level = 0;  ///< L_demote: inner nodes of lower levels than this stay in it
  friend bool operator==(const parameters&, const parameters&) = default;
};

/// Bounds of fast_levels and demote_level: the levels whose nodes fit into fast memory whole, and
/// the number of levels (SINLK, 4.3.4: changes are limited by the size of fast memory).
struct level_bounds {
  unsigned least = 0;
  unsigned most = 0;
};

/// The state of fast memory as it is known at a moment.
struct fast_memory_state {
  double usage = 0;  ///< share of it that is used; may be over 1
  double share = 0;  ///< of the leaves: of the most used ones, so many fit with their paths
  level_bounds levels;
  /// The last order was carried out: all leaves were looked at.
  bool is_done = false;
};

class hyper_watermark {
 public:
  struct limits {
    double low = 0.85, high = 0.95;  ///< shares of fast memory (SINLK, 5)
  };
  /// An order to the caller.
  enum class order : std::uint8_t {
    go_on,       ///< promote and demote as the thresholds say
    demote_now,  ///< halt promotions; look for cold nodes with the new parameters at once
    resume       ///< the strain is over: halt demotions, promote again
  };

  explicit hyper_watermark(const limits& at) noexcept : at_(at) {}

  /// To be called now and then, and, under strain, when what was asked for is done.
  order check(const fast_memory_state& seen) noexcept;

  /// Recomputes the parameters for another share of the leaves that fits, and adjusts nothing.
  const parameters& follow(double share) noexcept { return now_ = apply(share); }

  bool is_strained() const noexcept { return is_strained_; }
  /// Returns the parameters that the last check() or follow() has set.
  const parameters& now() const noexcept { return now_; }

 private:
  void tighten(const level_bounds& levels) noexcept;
  void loosen(const level_bounds& levels) noexcept;
  void settle(const level_bounds& levels) noexcept;

  /// By what the shares that the size of fast memory says are multiplied, and the levels.
  struct adjustment {
    double hot = 1, cold = 1;
    unsigned fast_levels = ~0U, demote_level = ~0U;
  };
  parameters apply(double fast_share) const noexcept;

  limits at_;
  adjustment adjusted_, before_strain_;
  parameters now_;
  bool is_strained_ = false;
};

}  // namespace isotherm::placement
