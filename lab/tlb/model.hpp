// The cycles that address translation costs, by the model of Dissertation 4.3.2. Computed: no
// figure of this file was measured.
#pragma once

#include <cstdint>

namespace isotherm::lab {

/// Cycles of a look-up in the TLB and of a walk of the page table. The defaults are the
/// paper's, for an Intel Cascade Lake.
struct translation_costs {
  double hit_cycles = 4;           ///< of each access
  double walk_cycles = 150;        ///< of each page, whose entry lies in the first-level cache
  double first_walk_cycles = 600;  ///< once: the entry comes from memory
};

/// Returns accesses * hit + first walk + pages * walk: the cycles of `accesses` accesses in order
/// of address that meet `pages` pages, each once.
double translation_cycles(std::uint64_t accesses, std::uint64_t pages,
                          const translation_costs& costs = {}) noexcept;

/// A hot set in a large region of objects.
struct hot_scenario {
  std::uint64_t region_bytes = std::uint64_t{256} << 30;
  std::uint64_t object_bytes = 256;
  std::uint64_t page_bytes = 4096;
  double hot_share = 0.01;  ///< of the objects, 0..1

  std::uint64_t hot_objects() const noexcept;
  /// Pages of the hot objects side by side: the fewest.
  std::uint64_t clustered_pages() const noexcept;
  /// Pages where no two hot objects share one and each spans two: the most.
  std::uint64_t scattered_pages() const noexcept;
};

/// The clock of the paper's processor, cycles a second.
inline constexpr double kPaperCyclesPerSecond = 2.8e9;

}  // namespace isotherm::lab
