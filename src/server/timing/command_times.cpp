#include "server/timing/command_times.hpp"

#include <functional>
#include <new>
#include <numeric>

namespace isotherm::server {

std::uint64_t command_counts::calls() const noexcept {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

command_counts& command_counts::operator+=(const command_counts& other) noexcept {
  sum_ns += other.sum_ns;
  failed += other.failed;
  rejected += other.rejected;
  std::ranges::transform(times, other.times, times.begin(), std::plus());
  return *this;
}

command_counts& command_counts::operator-=(const command_counts& earlier) noexcept {
  sum_ns -= earlier.sum_ns;
  failed -= earlier.failed;
  rejected -= earlier.rejected;
  std::ranges::transform(times, earlier.times, times.begin(), std::minus());
  return *this;
}

command_times::~command_times() {
  for (row& each : rows_) delete each.times.load_relaxed();
}

void command_times::record(std::size_t which, std::uint64_t ns) noexcept {
  reply_times* times = rows_[which].times.load_relaxed();
  if (times == nullptr) [[unlikely]] {
    times = new (std::nothrow) reply_times;
    if (times == nullptr) return;
    rows_[which].times.store_release(times);
  }
  times->record(ns);
}

command_counts command_times::of(std::size_t which) const noexcept {
  const row& from = rows_[which];
  command_counts counted;
  counted.failed = from.failed.load_relaxed();
  counted.rejected = from.rejected.load_relaxed();
  if (const reply_times* times = from.times.load_acquire()) {
    counted.sum_ns = times->sum_ns();
    times->add_to(counted.times);
  }
  return counted;
}

}  // namespace isotherm::server
