// Memory that the tool and the plugin inside QEMU share, beside the shadow. The tool makes it; all
// begins as zeros. This header needs no library: the plugin links none.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace isotherm::pages {

/// Addresses of the observed program, [begin, end).
struct control_region {
  std::uint64_t begin, end;
  std::uint64_t protection;  ///< 1 read, 2 write, 4 execute
};

/// Threads that count their accesses apart; more share a counter and may lose some counts.
inline constexpr unsigned kCounters = 256;
inline constexpr unsigned kRegionsMost = 1 << 16;
inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

/// A name that the program has given to memory of its own, by prctl(PR_SET_VMA). An empty text
/// takes the name away.
struct control_name {
  std::uint64_t begin, end;
  char text[80];  ///< ends by a zero
  /// Set when the others are written. Release by the plugin; acquire by the tool.
  base::atomic<std::uint32_t> complete;
};
inline constexpr unsigned kNamesMost = 1024;

/// Stages of the observed program, in `control::stage`.
enum control_stage : std::uint32_t {
  kStarting = 0,  ///< QEMU has not run an instruction of it
  kRunning,
  kExecuting,  ///< it has called execve(), and waits for `acknowledged` before
  kReplaced,   ///< another program is about to run in its place, and waits likewise
  kEnding      ///< it has called exit_group(), and waits likewise
};

/// Both sides write `window` and `acknowledged`. The tool writes `window_ends`, `regions_asked`,
/// `detached` and, at the start, `plugin` and `files`; the plugin writes all others.
///
/// Orders: a release of `stage` publishes `executed`, `first_stack_address` and the heap's ends to
/// the tool's acquire; a release of `regions_told` publishes the regions; a release of
/// `acknowledged` tells the plugin's acquire that the tool's reads of the program's memory are
/// over. `window` changes by acquire-release steps from the number that the writer had. Counts are
/// relaxed.
struct control {
  /// Number of the window that runs; the lowest bit is the area of its marks.
  base::atomic<std::uint32_t> window;
  /// Loads and stores since the start after which the plugin begins the next window, or kNever.
  base::atomic<std::uint64_t> window_ends;
  /// Loads and stores since the start, by thread.
  base::apart<base::atomic<std::uint64_t>> accesses[kCounters];

  base::atomic<std::uint32_t> stage;
  /// The stage that the tool has seen to the end: it needs the program's memory no more for it.
  base::atomic<std::uint32_t> acknowledged;
  /// Set: the tool observes no more, and the plugin waits for nothing.
  base::atomic<std::uint32_t> detached;

  /// The plugin lists the program's regions each time that the tool increments `regions_asked`, and
  /// then sets `regions_told` to it (both are futexes).
  base::atomic<std::uint32_t> regions_asked;
  base::atomic<std::uint32_t> regions_told;
  std::uint32_t regions_known;  ///< 0: this QEMU does not tell
  std::uint32_t region_count;   ///< at most kRegionsMost; further ones are left out
  control_region regions[kRegionsMost];
  std::uint64_t guest_base;  ///< host address - address of the program

  base::atomic<std::uint32_t> name_count;  ///< further ones than kNamesMost are left out
  control_name names[kNamesMost];          ///< in the order of the calls

  std::uint64_t first_stack_address;
  base::atomic<std::uint64_t> heap_begin, heap_end;  ///< of brk(2)
  base::atomic<std::uint32_t> children;              ///< forks, which are not observed
  char executed[1024];                               ///< the path of the last execve()
  base::atomic<std::uint32_t> replacements;          ///< by programs that are observed

  char plugin[8192];       ///< QEMU's option -plugin, but for the descriptors that follow
  std::uint32_t files[2];  ///< descriptors in the tool: this control, and the shadow
};

/// Returns the number of loads and stores since the start.
inline std::uint64_t accesses_of(const control& c) noexcept {
  std::uint64_t sum = 0;
  for (const auto& counter : c.accesses) sum += counter.value.load_relaxed();
  return sum;
}

}  // namespace isotherm::pages
