// When the load changes, nearly all uses miss, and no object comes back before the window's end has
// made its rate known. A window with unusually many misses therefore ends early, as do the next
// ones, until misses are as few as before or these are usual.
#pragma once

#include <cstdint>

namespace isotherm::collector {

/// Misses are uses of objects that had left DRAM. One thread.
class unusual_misses {
 public:
  /// Ends a window; `misses` counts since the process began.
  void end_window(std::uint64_t misses) noexcept {
    usual_ += (static_cast<double>(misses - at_begin_) - usual_) * kNewest;
    at_begin_ = misses;
  }
  /// Whether the window has so many more misses than the last ones that it should end now, after
  /// `share` of its time.
  bool end_window_now(std::uint64_t misses, double share) const noexcept {
    const auto seen = static_cast<double>(misses - at_begin_);
    return share >= kLeastShare && seen > kUnusual * usual_ && seen > kWorthNoting;
  }

 private:
  static constexpr double kNewest = 0.25;  // weight of the last window in what is usual
  static constexpr double kUnusual = 2;
  /// A window's end ages all records, which takes a while.
  static constexpr double kLeastShare = 0.125;
  /// Fewer misses do no harm.
  static constexpr double kWorthNoting = 1000;

  std::uint64_t at_begin_ = 0;
  double usual_ = 0;  // misses of a window
};

}  // namespace isotherm::collector
