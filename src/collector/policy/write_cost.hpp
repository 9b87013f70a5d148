// Placement in a direct COLD on a BRAID device (dissertation 7.2.5): its writes are few, do not
// take the device from its reads, and are paid for by the time that an object stays. Pure functions
// of numbers.
//
// A move to COLD writes the object; its return reads it. Writers slow the readers of the device by
// its interference, so that they get a share of its time in which reads lose a twentieth of theirs.
// The budget is that share of the write bandwidth. An object pays for its write when it is expected
// to stay for as long as the device takes, within the budget, to write and read anew all that COLD
// holds: objects that stay for so long could take turns for ever.
#pragma once

#include <cstdint>
#include <optional>

#include "collector/options.hpp"
#include "collector/policy/temperature.hpp"

namespace isotherm::collector {

/// Returns the bytes a second that may be written.
double write_budget(const device_costs& device) noexcept;

/// Whether reads and writes of the device are not to overlap: one writer takes a tenth of the
/// bandwidth of reads, or more.
bool keeps_apart(const device_costs& device) noexcept;

/// Returns for how many seconds an object is to stay in COLD, which holds so many bytes, to pay for
/// its write.
double paying_seconds(const device_costs& device, std::uint64_t cold_bytes) noexcept;

/// Returns the highest rate of use (a window of so many seconds) of objects that are expected to
/// stay unused for `seconds`.
rate rate_of_rest(double seconds, double window_seconds) noexcept;

/// The bytes that may be written now, of a budget that grows with time and is kept for a window at
/// most. One thread.
class write_allowance {
 public:
  /// Sets the device and the length of a window, in which the last allowance still counts; nullopt:
  /// nothing limits writes.
  void begin_window(const std::optional<device_costs>& device, double window_seconds) noexcept;
  /// Adds what has come until `now_ns`. Times do not go back.
  void grow(std::uint64_t now_ns) noexcept;
  /// Returns whether something may be written. The last object may exceed what is left, and is
  /// taken from what comes next.
  bool is_left() const noexcept { return !is_limited_ || bytes_ > 0; }
  void take(std::uint64_t bytes) noexcept {
    if (is_limited_) bytes_ -= static_cast<double>(bytes);
  }
  /// Returns the bytes that are left; the greatest number where nothing limits writes.
  std::uint64_t left() const noexcept;

 private:
  bool is_limited_ = false;
  double bytes_per_second_ = 0, most_bytes_ = 0;
  double bytes_ = 0;  // may be negative
  std::uint64_t grown_ns_ = 0;
};

}  // namespace isotherm::collector
