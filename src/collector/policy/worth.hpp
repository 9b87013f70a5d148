// Worths of objects, and the cuts by which some of them are kept in DRAM: pure functions of
// numbers.
//
// An object's worth is its rate of use (temperature.hpp) over the DRAM that it takes, for a miss
// costs a read of a page whether the object fills it or not: a key of 32 bytes is kept in the place
// of a value of a kilobyte that is used thirty times as often. An object larger than a page is read
// page by page, and its worth is that of one of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/page.hpp"
#include "collector/options.hpp"
#include "collector/policy/temperature.hpp"
#include "guide/word.hpp"

namespace isotherm::collector {

/// A worth is a rate, of an object of a page or more; half the size is worth an octave more.
inline constexpr unsigned kPageClass = guides::size_class_for(base::kPageBytes);
inline constexpr unsigned kWorths = kRates + kPageClass * kRatesPerOctave;

/// Returns the worth of the object of `w`, whose rate is `now`. Below kWorths.
unsigned worth_of(guides::word w, rate now) noexcept;

/// Objects used in a window, by the worth that they had before it.
using use_histogram = std::array<std::uint64_t, kWorths>;

/// Objects of NEW and HOT by worth, and of these the ones that were used in a window.
using dram_objects = std::array<std::uint64_t, kWorths>;
struct dram_uses {
  dram_objects objects{};
  use_histogram uses{};
};

/// Bytes of objects, or of their size classes, by worth.
using bytes_by_worth = std::array<std::uint64_t, kWorths>;

/// Objects that are worth more than `at` are above it; of those that are worth as much, a share is:
/// those of which the address, mixed with the window's draw, is at most `ties`.
struct worth_cut {
  unsigned at = 0;
  std::uint64_t ties = ~std::uint64_t{0};  ///< a share in 2^-64
};
/// `share` of those at a cut, as its ties.
std::uint64_t ties_of(double share) noexcept;
/// The ties by which `room` is filled from `bytes` at a cut.
std::uint64_t ties_within(std::uint64_t room, std::uint64_t bytes) noexcept;
/// The lowest cut above which no more than `room` bytes are.
worth_cut cut_within(const bytes_by_worth& bytes, std::uint64_t room) noexcept;
std::uint64_t bytes_above(const bytes_by_worth& bytes, unsigned worth) noexcept;
/// Bytes above the cut, and of those at it its share.
std::uint64_t bytes_kept(const bytes_by_worth& bytes, worth_cut cut) noexcept;

/// Objects that may go to COLD: those that are worth less than `at`, and `share` of those that are
/// worth as much.
struct miss_cut {
  unsigned at;    ///< kWorths: all may go
  double share;   ///< 0 to 1, not 1
  double misses;  ///< a window, of all that may go
};
/// How much may go when no more than `misses` objects a window are read in COLD: had all of it been
/// there, so many of the uses `seen` would have been read there. `expected`: uses a window by worth
/// of the objects `now` that their rates let expect, which must be as few: a window without uses
/// does not let everything go. Objects of one worth that are used in most windows go all or not.
miss_cut cut_for_misses(const dram_uses& seen, std::span<const double, kWorths> expected,
                        const dram_objects& now, double misses) noexcept;

/// Misses that a window of so many seconds may have, in which `used` objects were used.
double allowed_misses(const options& chosen, std::uint64_t used, double seconds) noexcept;

}  // namespace isotherm::collector
