#include "collector/policy/worth.hpp"

#include <algorithm>
#include <numeric>

namespace isotherm::collector {

namespace {

/// Objects of one worth are let go in part only if they are used in a smaller share of the windows.
/// Others would leave and come back all the time.
constexpr double kSeldom = 0.5;
/// The share of `amount` for which there is room: 0 to 1.
double share_within(double room, double amount) noexcept {
  if (room >= amount) return 1;
  return room > 0 ? room / amount : 0;
}

}  // namespace

std::uint64_t ties_of(double share) noexcept {
  return share >= 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(share * 0x1p64);
}

std::uint64_t ties_within(std::uint64_t room, std::uint64_t bytes) noexcept {
  if (room >= bytes) return ~std::uint64_t{0};
  return ties_of(static_cast<double>(room) / static_cast<double>(bytes));
}

worth_cut cut_within(const bytes_by_worth& bytes, std::uint64_t room) noexcept {
  const unsigned all_stay = cut_for(bytes, room);
  if (all_stay == 0) return {};
  const unsigned at = all_stay - 1;
  return {at, ties_within(room - bytes_above(bytes, at), bytes[at])};
}

std::uint64_t bytes_above(const bytes_by_worth& bytes, unsigned worth) noexcept {
  const auto first = bytes.begin() + std::min(worth + 1, kWorths);
  return std::accumulate(first, bytes.end(), std::uint64_t{0});
}

std::uint64_t bytes_kept(const bytes_by_worth& bytes, worth_cut cut) noexcept {
  const auto at_cut = static_cast<double>(bytes[cut.at]) * static_cast<double>(cut.ties) * 0x1p-64;
  return bytes_above(bytes, cut.at) + static_cast<std::uint64_t>(at_cut);
}

unsigned worth_of(guides::word w, rate now) noexcept {
  const unsigned c = guides::size_class_of(w);
  return now + (c < kPageClass ? kPageClass - c : 0) * kRatesPerOctave;
}

miss_cut cut_for_misses(const dram_uses& seen, std::span<const double, kWorths> expected,
                        const dram_objects& now, double misses) noexcept {
  double used = 0, likely = 0;
  for (unsigned worth = 0; worth < kWorths; ++worth) {
    const auto used_here = static_cast<double>(seen.uses[worth]);
    double share = std::min(share_within(misses - used, used_here),
                            share_within(misses - likely, expected[worth]));
    const bool is_often = used_here > kSeldom * static_cast<double>(seen.objects[worth]) ||
                          expected[worth] > kSeldom * static_cast<double>(now[worth]);
    if (share < 1 && is_often) share = 0;
    used += share * used_here;
    likely += share * expected[worth];
    if (share < 1) return {worth, share, std::max(used, likely)};
  }
  return {kWorths, 0, std::max(used, likely)};
}

double allowed_misses(const options& chosen, std::uint64_t used, double seconds) noexcept {
  return std::min(chosen.miss_share * static_cast<double>(used),
                  chosen.misses_per_second * seconds);
}

}  // namespace isotherm::collector
