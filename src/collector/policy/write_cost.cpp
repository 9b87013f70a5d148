#include "collector/policy/write_cost.hpp"

#include <algorithm>

namespace isotherm::collector {

namespace {

/// Share of their bandwidth that reads may lose to writes.
constexpr double kReadsLose = 1.0 / 20;
/// Largest share of the device's time for writes.
constexpr double kMostOfTime = 0.5;
/// Reads and writes are kept apart where one writer takes at least this share of the reads'
/// bandwidth.
constexpr double kInterferes = 0.1;

/// Returns the share of their bandwidth that reads lose while one writer writes.
double loss_of(const device_costs& device) noexcept {
  return device.interference / (1 + device.interference);
}

}  // namespace

double write_budget(const device_costs& device) noexcept {
  const double loss = loss_of(device);
  const double share = loss * kMostOfTime > kReadsLose ? kReadsLose / loss : kMostOfTime;
  return share * device.write_bytes_per_second;
}

bool keeps_apart(const device_costs& device) noexcept { return loss_of(device) >= kInterferes; }

double paying_seconds(const device_costs& device, std::uint64_t cold_bytes) noexcept {
  const double seconds_of_byte = 1 / write_budget(device) + 1 / device.read_bytes_per_second;
  return static_cast<double>(cold_bytes) * seconds_of_byte;
}

rate rate_of_rest(double seconds, double window_seconds) noexcept {
  // Used in a share of the windows, it rests for as many windows as go into the share.
  return seconds <= window_seconds ? kRates - 1 : rate_of(window_seconds / seconds);
}

void write_allowance::begin_window(const std::optional<device_costs>& device,
                                   double window_seconds) noexcept {
  is_limited_ = device.has_value();
  bytes_per_second_ = device ? write_budget(*device) : 0;
  most_bytes_ = bytes_per_second_ * window_seconds;
  bytes_ = std::min(bytes_, most_bytes_);
}

void write_allowance::grow(std::uint64_t now_ns) noexcept {
  if (!is_limited_) return;
  const double seconds = static_cast<double>(now_ns - grown_ns_) / 1e9;
  bytes_ = std::min(bytes_ + bytes_per_second_ * seconds, most_bytes_);
  grown_ns_ = now_ns;
}

std::uint64_t write_allowance::left() const noexcept {
  if (!is_limited_) return ~std::uint64_t{0};
  return bytes_ > 0 ? static_cast<std::uint64_t>(bytes_) : 0;
}

}  // namespace isotherm::collector
