// HOT in the order of temperatures: objects that are used in about as many windows share extents,
// and so pages. Pure functions.
#pragma once

#include "collector/policy/temperature.hpp"
#include "heap/object.hpp"

namespace isotherm::collector {

/// The bands: used in half of the windows or more, in an eighth, in a 32nd, in fewer. From one to
/// the next are two octaves.
inline constexpr unsigned kBandRates = 2 * kRatesPerOctave;
/// The hottest band begins an octave below always.
inline constexpr unsigned kHottestBandFrom = kRates - 1 - kRatesPerOctave;

constexpr heap::band band_of(rate r) noexcept {
  heap::band at = 0;
  while (at < heap::kColdestBand && r + at * kBandRates < kHottestBandFrom) ++at;
  return at;
}

/// Like band_of(), for an object that lies in band `now`: it leaves that only when its rate is half
/// an octave beyond it, for the rate of an object that is used evenly varies as well.
constexpr heap::band band_of(rate r, heap::band now) noexcept {
  constexpr rate kBeyond = kRatesPerOctave / 2;
  const auto lower = static_cast<rate>(r > kBeyond ? r - kBeyond : 0);
  const auto higher = static_cast<rate>(r + kBeyond);
  if (band_of(lower) < now) return band_of(r);
  return band_of(higher) > now ? band_of(r) : now;
}

}  // namespace isotherm::collector
