#include "collector/window/compaction.hpp"

#include <algorithm>

#include "heap/upkeep.hpp"

namespace isotherm::collector {

namespace {
constexpr std::uint64_t kWorthCompacting = std::uint64_t{4} << 20;
/// A window cleans between a 32nd and a 16th of COLD, or none of it; a small COLD at once.
constexpr std::uint64_t kLeastCleanedOfCold = 32, kMostCleanedOfCold = 16;
constexpr std::uint64_t kCleanedAtOnce = std::uint64_t{16} << 20;
constexpr std::uint64_t kWorthGaining = std::uint64_t{1} << 20;  // an extent
/// An extent of HOT is not emptied for next to nothing: there a byte gained costs 32 copied.
constexpr double kDenseShare = 1 - 1.0 / 32;
}  // namespace

std::uint64_t cold_bytes_to_move(const heap::packing& now) noexcept {
  const std::uint64_t dead = now.used_bytes - std::min(now.used_bytes, now.live_bytes);
  const std::uint64_t borne = now.used_bytes / kBorneDeadInCold;
  const std::uint64_t beyond = dead - std::min(dead, borne);
  // A pass over all guides is worth some MiB, and a share of the file that grows with the guides.
  const std::uint64_t worth_a_pass =
      std::max(kWorthCompacting, now.used_bytes / kLeastCleanedOfCold);
  if (beyond < worth_a_pass) return 0;
  return std::min(beyond, std::max(now.used_bytes / kMostCleanedOfCold, kCleanedAtOnce));
}

std::uint64_t hot_bytes_to_gain(const heap::packing& now, std::uint64_t short_bytes) noexcept {
  const std::uint64_t dead = now.used_bytes - std::min(now.used_bytes, now.live_bytes);
  const auto bearable =
      static_cast<std::uint64_t>((1 - kSparseHotShare) * static_cast<double>(now.used_bytes));
  return std::max(dead - std::min(dead, bearable), std::min(dead, short_bytes));
}

std::vector<heap::sparse_extents> sparse_hot(const hot_compaction& asked) {
  const std::uint64_t gain =
      hot_bytes_to_gain(heap::packing_of(heap::kind::hot), asked.short_bytes);
  if (gain < kWorthGaining) return {};
  return heap::sparsest_of(heap::kind::hot, {.live_share = kDenseShare,
                                             .dead_bytes = gain,
                                             .together_bytes = asked.together_bytes,
                                             .end = asked.end});
}

std::vector<heap::sparse_extents> sparse_cold() {
  const std::uint64_t live_bytes = cold_bytes_to_move(heap::packing_of(heap::kind::cold));
  if (live_bytes == 0) return {};
  return heap::sparsest_of(heap::kind::cold,
                           {.live_share = kSparseColdShare, .live_bytes = live_bytes});
}

}  // namespace isotherm::collector
