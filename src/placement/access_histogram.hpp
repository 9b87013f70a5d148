// How many leaves were used how often, on a logarithmic scale, and from it what is hot and what is
// cold (SINLK, 4.2.3).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "placement/tier.hpp"

namespace isotherm::placement {

/// A leaf used at least `hot` times is hot, one used less than `cold` times cold; cold <= hot.
struct thresholds {
  std::uint32_t hot = 1;
  std::uint32_t cold = 0;
};

/// Bin b holds leaves of which std::bit_width(uses) == b: 0, 1, 2..3, 4..7, ... An inner node
/// counts in bytes, for the most used leaf below it.
class access_histogram {
 public:
  void add(std::uint16_t uses) noexcept { ++bins_[bin_of(uses)]; }
  void add_bytes(std::uint16_t uses, tier where, std::uint64_t bytes) noexcept {
    bytes_of(where)[bin_of(uses)] += bytes;
  }
  std::uint64_t leaves() const noexcept { return sum(bins_, 0, kBins); }
  /// `hot`: the most at which at least that share of the leaves is hot, and at least the bin of
  /// those used most, though no leaf is that was not used; of a share of 0 all are cold. `cold`:
  /// the most at which at most that share is cold, but where any may be cold, at least the bin of
  /// those used least, so that there is something to demote. Shares are of 0 .. 1.
  thresholds choose(double hot_share, double cold_share) const noexcept {
    const auto all = static_cast<double>(leaves());
    if (all == 0) return {.hot = least_of(kBins), .cold = 0};  // nothing is known
    if (hot_share <= 0) return {.hot = least_of(kBins), .cold = least_of(kBins)};
    thresholds chosen{.hot = 1, .cold = 0};
    std::uint64_t above = 0;
    for (unsigned bin = kBins - 1; bin > 0; --bin) {
      above += bins_[bin];
      if (above == 0 || static_cast<double>(above) < hot_share * all) continue;
      chosen.hot = least_of(bin);
      break;
    }
    std::uint64_t below = 0;
    for (unsigned bin = 0; bin < kBins; ++bin) {
      const bool is_first = below == 0 && cold_share > 0;
      below += bins_[bin];
      const bool is_too_much = static_cast<double>(below) > cold_share * all && !is_first;
      if (is_too_much || least_of(bin + 1) > chosen.hot) break;
      chosen.cold = least_of(bin + 1);
    }
    return chosen;
  }

  /// Share of the leaves, the most used ones, whose paths fit into `room` bytes, in whole bins; at
  /// least the first bin that has leaves, 1 when all fit, and 0 without any room.
  double share_that_fits(std::uint64_t room) const noexcept {
    if (room == 0) return 0;
    std::uint64_t fit = 0, taken = 0;
    for (unsigned bin = kBins; bin-- > 0;) {
      taken += fast_[bin] + slow_[bin];
      if (taken > room && fit > 0) break;
      fit += bins_[bin];
    }
    const std::uint64_t all = leaves();
    return all == 0 ? 1 : static_cast<double>(fit) / static_cast<double>(all);
  }

  /// For fast memory of which `free` bytes may still be filled: what is hot in slow memory takes
  /// the place of what was used less than half as often. Raises `by_share.hot` until as much may
  /// leave as is to come.
  thresholds choose_exchange(const thresholds& by_share, std::uint64_t free) const noexcept {
    unsigned hot = 0;
    while (hot < kBins && least_of(hot) < by_share.hot) ++hot;
    std::uint64_t wanted = sum(slow_, hot, kBins);
    for (; hot < kBins; ++hot) {
      // Uses in neighbouring bins may differ by one: such leaves would change places for ever.
      const unsigned cold = hot > 1 ? hot - 1 : 0;
      if (wanted <= free + sum(fast_, 0, cold)) {
        return {.hot = least_of(hot), .cold = least_of(cold)};
      }
      wanted -= slow_[hot];
    }
    return {.hot = least_of(kBins), .cold = 0};
  }

 private:
  static constexpr unsigned kBins = 17;
  static constexpr unsigned bin_of(std::uint16_t uses) noexcept {
    return static_cast<unsigned>(std::bit_width(uses));
  }
  static constexpr std::uint32_t least_of(unsigned bin) noexcept {
    return bin == 0 ? 0 : std::uint32_t{1} << (bin - 1);
  }
  using bins = std::array<std::uint64_t, kBins>;
  static std::uint64_t sum(const bins& of, unsigned first, unsigned last) noexcept {
    std::uint64_t all = 0;
    for (; first < last; ++first) all += of[first];
    return all;
  }
  bins& bytes_of(tier where) noexcept { return where == tier::fast ? fast_ : slow_; }

  bins bins_{};
  bins fast_{}, slow_{};  // bytes of nodes
};

}  // namespace isotherm::placement
