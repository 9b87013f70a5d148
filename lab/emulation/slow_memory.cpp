#include "lab/emulation/slow_memory.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/check.hpp"
#include "base/random.hpp"
#include "os/clock.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::lab {

namespace detail {
constinit base::atomic<emulated_page*> pages{nullptr};
constinit std::uintptr_t first_page = 0;
constinit base::atomic<page_samples> samples{page_samples::none};
constinit base::atomic<counting> counted{counting::leaves};
constinit base::atomic<placement::use_count*> path_counts{nullptr};
}  // namespace detail

namespace {

/// A clock that takes some 10 ns to read.
std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  unsigned core = 0;
  const std::uint64_t now = __rdtscp(&core);  // waits for the loads before it
  _mm_lfence();
  return now;
#else
  return os::monotonic_ns();
#endif
}

struct calibration {
  std::uint64_t miss_ticks = 0;  // a load that took as long has missed the caches
  std::uint64_t slow_ticks = 0;  // what it takes of slow memory
  std::uint64_t line_ticks = 0;
};
constinit calibration calibrated;
constinit base::apart<base::atomic<std::uint64_t>> bandwidth_free_at{};

void wait_until(std::uint64_t end) noexcept {
  while (ticks() < end) {
  }
}

/// When slow memory has delivered so many lines, at its bandwidth, after all that were asked
/// before.
std::uint64_t delivered_at(std::uint64_t now, unsigned lines) noexcept {
  auto& free_at = bandwidth_free_at.value;
  std::uint64_t seen = free_at.load_relaxed();
  std::uint64_t end = 0;
  do {
    end = std::max(seen, now) + lines * calibrated.line_ticks;
  } while (!free_at.compare_exchange_weak_relaxed(seen, end));
  return end;
}

constexpr std::size_t kChaseBytes = std::size_t{256} << 20, kLineBytes = 64;

struct alignas(kLineBytes) line {
  std::uint32_t next;
};

/// A cycle through lines in random order, larger than any cache.
std::vector<line> make_cycle() {
  std::vector<std::uint32_t> order(kChaseBytes / sizeof(line));
  std::iota(order.begin(), order.end(), 0U);
  base::random random(1);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<line> cycle(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    cycle[order[i]].next = order[(i + 1) % order.size()];
  }
  return cycle;
}

/// Nanoseconds of a dependent load, the least of some runs: whatever else runs only adds to it.
template <class Load>
double chase(const std::vector<line>& cycle, Load load) {
  constexpr unsigned kLoads = 25'000, kRuns = 5;
  double least = 1e9;
  std::uint32_t at = 0;
  for (unsigned run = 0; run < kRuns; ++run) {
    const std::uint64_t begin = os::monotonic_ns();
    for (unsigned i = 0; i < kLoads; ++i) {
      load(&cycle[at]);
      at = *static_cast<const volatile std::uint32_t*>(&cycle[at].next);
    }
    least = std::min(least, static_cast<double>(os::monotonic_ns() - begin) / kLoads);
  }
  return least;
}

double ticks_per_ns() {
  const std::uint64_t begin_ns = os::monotonic_ns(), begin = ticks();
  while (os::monotonic_ns() - begin_ns < 20'000'000) {
  }
  return static_cast<double>(ticks() - begin) / static_cast<double>(os::monotonic_ns() - begin_ns);
}

/// Nanoseconds a line when one thread reads memory in order.
double sequential_line_ns(const std::vector<line>& lines) {
  std::uint64_t sum = 0;
  const std::uint64_t begin = os::monotonic_ns();
  for (const line& each : lines) sum += each.next;
  const double ns = static_cast<double>(os::monotonic_ns() - begin);
  [[maybe_unused]] static volatile std::uint64_t kept;
  kept = sum;
  return ns / static_cast<double>(lines.size());
}

}  // namespace

void detail::load_slow(const void* node, unsigned lines) noexcept {
  if (calibrated.miss_ticks == 0) return;
  const std::uint64_t begin = ticks();
  static_cast<void>(*static_cast<const volatile char*>(node));
  const std::uint64_t end = ticks();
  if (end - begin < calibrated.miss_ticks) return;
  wait_until(std::max(begin + calibrated.slow_ticks, delivered_at(begin, lines)));
}

emulated_page* emulate_pages(page_samples samples) {
  detail::samples.store_relaxed(samples);
  // capacity() is seven eighths of a range.
  const std::size_t count = (placement::capacity() / 7 * 8) >> kTierPageShift;
  // Never freed, and never touched but where there are nodes.
  auto memory = os::reserve(count * sizeof(emulated_page), os::page_bytes());
  ISO_CHECK(memory && os::commit(*memory, count * sizeof(emulated_page)),
            "no address space for the emulated pages");
  auto* const pages = std::launder(reinterpret_cast<emulated_page*>(*memory));
  detail::first_page = placement::used_range(placement::tier::fast).begin;
  detail::pages.store_release(pages);
  return pages;
}

void count_uses(counting chosen) {
  if (chosen == counting::paths && detail::path_counts.load_relaxed() == nullptr) {
    detail::path_counts.store_relaxed(
        new placement::use_count[detail::kPathCounts]);  // never freed
  }
  detail::counted.store_release(chosen);
}

base::result<emulation_report> emulate_slow_memory(const emulation_options& chosen) {
  if (!(chosen.latency_ratio >= 1)) {
    return std::unexpected(
        base::error{"the latency of slow memory is at least that of fast memory", 0});
  }
  if (!(chosen.bandwidth_share > 0 && chosen.bandwidth_share <= 1)) {
    return std::unexpected(
        base::error{"the bandwidth of slow memory is a share of fast memory's", 0});
  }
  const std::vector<line> cycle = make_cycle();
  const double scale = ticks_per_ns();
  emulation_report found;
  found.fast_ns = chase(cycle, [](const void*) {});
  found.line_ns = sequential_line_ns(cycle) / chosen.bandwidth_share;
  // A timed load takes some 20 ns more than the load itself: a miss is told from a hit by half of
  // what a miss takes.
  calibrated.miss_ticks = static_cast<std::uint64_t>(found.fast_ns / 2 * scale);
  calibrated.line_ticks = static_cast<std::uint64_t>(found.line_ns * scale);
  const double wanted_ns = found.fast_ns * chosen.latency_ratio;
  // The time that the waiting itself adds is taken off.
  double target_ns = wanted_ns;
  for (int round = 0; round < 4; ++round) {
    calibrated.slow_ticks = static_cast<std::uint64_t>(std::max(target_ns, 0.0) * scale);
    found.slow_ns = chase(cycle, [](const void* at) { detail::load_slow(at, 1); });
    target_ns -= found.slow_ns - wanted_ns;
  }
  return found;
}

}  // namespace isotherm::lab
