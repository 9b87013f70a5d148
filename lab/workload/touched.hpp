// Which keys were used in the last windows. One byte a key
// remembers the window of the key's last use, modulo 255; keys that are older than any threshold
// are forgotten in time, so that a number never comes to mean two windows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/atomic.hpp"

namespace isotherm::workload {

/// Keys by the window of their last use. mark() is for all threads; advance() for one.
class touched_keys {
 public:
  static constexpr unsigned kWindows = 32;  ///< ages that are told apart: 0 .. kWindows - 1

  /// For keys 0 .. keys - 1, none of them used.
  explicit touched_keys(std::uint64_t keys) : last_(keys) {}

  /// Notes a use of `number` in the current window; numbers beyond the last key are ignored.
  void mark(std::uint64_t number) noexcept {
    if (number >= last_.size()) return;
    const std::uint8_t now = now_.load_relaxed();
    if (last_[number].load_relaxed() != now) last_[number].store_relaxed(now);
  }

  /// Keys whose last use was in the window that ends now (index 0), in the one before (1), ...
  using ages = std::array<std::uint64_t, kWindows>;

  /// Ends the current window and begins the next. Returns the keys by age. A use that runs beside
  /// it counts for one of the two windows.
  ages advance() noexcept;

  /// A key and the window of its last use: 0 is the one that the last advance() ended.
  struct last_use {
    std::uint64_t number;
    unsigned age;
    friend bool operator==(const last_use&, const last_use&) = default;
  };
  /// Keys used in the last kWindows windows that have ended, in order. No concurrent mark() or
  /// advance().
  std::vector<last_use> last_uses() const;

  std::uint64_t keys() const noexcept { return last_.size(); }
  /// True when `number` was used in the current window.
  bool is_current(std::uint64_t number) const noexcept {
    return number < last_.size() && last_[number].load_relaxed() == now_.load_relaxed();
  }

 private:
  static constexpr std::uint8_t kNever = 0;
  static constexpr unsigned kCycle = 255;  ///< windows are numbered 1 .. 255, round and round

  std::vector<base::atomic<std::uint8_t>> last_;
  base::atomic<std::uint8_t> now_{1};
};

}  // namespace isotherm::workload
