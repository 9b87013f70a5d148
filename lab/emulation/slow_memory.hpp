// Slow memory emulated on a machine that has only one kind: a load of slow memory that misses the
// processor's caches is held up until the time is over that slow memory would have taken. For
// benchmarks; what they print says so.
//
// Whether a load misses is found by timing it, as caches hold lines of slow memory too. The timing
// is paid by loads of slow nodes only, hits too (some 20 ns), which a real slow tier would not
// take. Writes are held up by the load of the line that comes before them; a processor's own
// prefetching and its overlapping of misses within a node are not modelled beyond this: of several
// lines of one node only the first costs the latency, all cost their share of the bandwidth.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "placement/node_memory.hpp"

namespace isotherm::lab {

struct emulation_options {
  double latency_ratio = 2;  ///< slow memory's latency over fast memory's, >= 1 (SINLK, fig. 1c)
  double bandwidth_share = 0.6;  ///< of the fast memory's, 0 < share <= 1
};

/// The measured times.
struct emulation_report {
  double fast_ns = 0;  ///< a dependent load that misses the caches
  double slow_ns = 0;  ///< the same where slow memory is emulated
  double line_ns = 0;  ///< time between two lines of slow memory at its full bandwidth
};

/// Which nodes the searches of a benchmark count, to find out what counting costs.
enum class counting : std::uint8_t {
  none,
  leaves,  ///< as SINLK does
  paths    ///< every node, in a table beside them: what SINLK avoids
};
void count_uses(counting chosen);

/// Calibrates and begins to hold loads up, in all threads. Takes a fraction of a second and 256 MiB
/// meanwhile. Once a process.
base::result<emulation_report> emulate_slow_memory(const emulation_options& chosen);

/// A page of nodes, for the benchmark's policies that move pages in place of nodes.
struct emulated_page {
  base::atomic<bool> is_slow{false};
  placement::use_count uses;  ///< counts one touch in kTouchesPerSample
};
inline constexpr unsigned kTierPageShift = 12, kTouchesPerSample = 16;

enum class page_samples : std::uint8_t { none, taken };

/// Gives each page a tier of its own, fast at first, and samples it where samples are taken.
/// Returns an array with an element for each page of the fast range, used or not.
emulated_page* emulate_pages(page_samples samples);

namespace detail {
/// Rows of the fast range's pages, while a policy moves pages; null: an address tells the tier.
extern constinit base::atomic<emulated_page*> pages;
extern constinit std::uintptr_t first_page;  ///< its address
extern constinit base::atomic<page_samples> samples;
extern constinit base::atomic<counting> counted;
/// Counts of `paths`, by a hash of the node's address. Nodes may share a place; the cost matters.
inline constexpr std::size_t kPathCounts = std::size_t{1} << 22;
extern constinit base::atomic<placement::use_count*> path_counts;
[[gnu::noinline]] void load_slow(const void* node, unsigned lines) noexcept;
}  // namespace detail

/// Whether the emulation calls this memory slow; samples it.
inline bool is_emulated_slow(const void* node) noexcept {
  auto* const pages = detail::pages.load_relaxed();
  if (pages == nullptr) return placement::is_slow(node);
  if (!placement::is_fast(node)) return false;
  const auto offset = reinterpret_cast<std::uintptr_t>(node) - detail::first_page;
  emulated_page& page = pages[offset >> kTierPageShift];
  if (detail::samples.load_relaxed() == page_samples::taken) {
    static thread_local unsigned touches = 0;
    if (++touches % kTouchesPerSample == 0) page.uses.add();
  }
  return page.is_slow.load_relaxed();
}

/// Loads the first of `lines` cache lines of a node, slowly where the node is slow.
inline void touch(const void* node, unsigned lines) noexcept {
  if (is_emulated_slow(node)) detail::load_slow(node, lines);
  if (detail::counted.load_relaxed() == counting::paths) [[unlikely]] {
    const auto address = reinterpret_cast<std::uintptr_t>(node);
    detail::path_counts.load_relaxed()[(address >> 4) % detail::kPathCounts].add();
  }
}

/// The count of a leaf in a benchmark that may leave it out.
class optional_use_count : public placement::use_count {
 public:
  void add() noexcept {
    if (detail::counted.load_relaxed() != counting::none) use_count::add();
  }
  static void add_to(use_count& uses) noexcept {
    if (detail::counted.load_relaxed() != counting::none) uses.add();
  }
};

}  // namespace isotherm::lab
