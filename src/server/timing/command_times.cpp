#include "server/timing/command_times.hpp"

#include <new>

namespace isotherm::server {

command_counts& command_counts::operator+=(const command_counts& other) noexcept {
  failed += other.failed;
  rejected += other.rejected;
  times.merge(other.times);
  return *this;
}

command_counts& command_counts::operator-=(const command_counts& earlier) noexcept {
  failed -= earlier.failed;
  rejected -= earlier.rejected;
  times.subtract(earlier.times);
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
  if (const reply_times* times = from.times.load_acquire()) counted.times = times->read();
  return counted;
}

}  // namespace isotherm::server
