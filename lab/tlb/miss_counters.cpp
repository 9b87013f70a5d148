#include "lab/tlb/miss_counters.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.hpp"

namespace isotherm::lab {
namespace {

constexpr std::uint64_t read_misses_of(std::uint64_t cache) noexcept {
  return cache | (std::uint64_t{PERF_COUNT_HW_CACHE_OP_READ} << 8) |
         (std::uint64_t{PERF_COUNT_HW_CACHE_RESULT_MISS} << 16);
}

}  // namespace

event_counter::event_counter(std::uint32_t type, std::uint64_t config) noexcept {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = type;
  wanted.config = config;
  wanted.disabled = 1;
  wanted.exclude_kernel = 1;  // allowed to all users at perf_event_paranoid 2
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  file_ = static_cast<int>(
      syscall(SYS_perf_event_open, &wanted, 0, -1, -1, std::uint64_t{PERF_FLAG_FD_CLOEXEC}));
  if (file_ < 0) problem_ = errno;
}

event_counter::event_counter(event_counter&& other) noexcept
    : file_(std::exchange(other.file_, -1)), problem_(other.problem_) {}

event_counter::~event_counter() {
  if (file_ >= 0) close(file_);
}

event_counter::reading event_counter::read_now() const noexcept {
  reading now;
  // A reading that fails has no running time, and tells of no events.
  if (read(file_, &now, sizeof now) != sizeof now) return {};
  return now;
}

void event_counter::start() noexcept {
  if (file_ < 0) return;
  at_start_ = read_now();
  ioctl(file_, PERF_EVENT_IOC_ENABLE, 0);
}

std::optional<double> event_counter::stop() noexcept {
  if (file_ < 0) return std::nullopt;
  ioctl(file_, PERF_EVENT_IOC_DISABLE, 0);
  const reading now = read_now();
  if (now.running_ns <= at_start_.running_ns) return std::nullopt;
  return static_cast<double>(now.events - at_start_.events) *
         static_cast<double>(now.enabled_ns - at_start_.enabled_ns) /
         static_cast<double>(now.running_ns - at_start_.running_ns);
}

miss_counters::miss_counters() noexcept
    : tlb_(PERF_TYPE_HW_CACHE, read_misses_of(PERF_COUNT_HW_CACHE_DTLB)),
      last_cache_(PERF_TYPE_HW_CACHE, read_misses_of(PERF_COUNT_HW_CACHE_LL)) {}

void miss_counters::start() noexcept {
  tlb_.start();
  last_cache_.start();
}

read_misses miss_counters::stop() noexcept {
  return {.tlb = tlb_.stop(), .last_cache = last_cache_.stop()};
}

std::string miss_counters::why_absent() const {
  if (tlb_.counts()) return "";
  if (tlb_.problem() == EACCES || tlb_.problem() == EPERM) {
    return "not allowed (set kernel.perf_event_paranoid to 2 or less)";
  }
  return base::system_error("this machine has no such counter, perf_event_open", tlb_.problem())
      .message;
}

}  // namespace isotherm::lab
