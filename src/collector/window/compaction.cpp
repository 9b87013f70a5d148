#include "collector/window/compaction.hpp"

#include <algorithm>

#include "heap/upkeep.hpp"

namespace isotherm::collector {

namespace {
constexpr double kMost = 0x1p62;  // bytes
constexpr std::uint64_t kWorthCompacting = std::uint64_t{8} << 20;
constexpr std::uint64_t kWorthGaining = std::uint64_t{1} << 20;  // an extent
/// An extent of HOT is not emptied for next to nothing: there a byte gained costs 32 copied.
constexpr double kDenseShare = 1 - 1.0 / 32;
}  // namespace

bool is_worth_compacting(const heap::packing& now, double live_share) noexcept {
  return now.used_bytes > kWorthCompacting &&
         static_cast<double>(now.live_bytes) < live_share * static_cast<double>(now.used_bytes);
}

std::uint64_t compaction_bytes(const options& chosen, const window_statistics& seen,
                               double bytes_each) noexcept {
  const double read = chosen.misses_per_second * seen.window_seconds * bytes_each;
  return std::max({static_cast<std::uint64_t>(std::min(read, kMost)), seen.promoted.bytes / 2,
                   chosen.batch_bytes});
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

std::vector<heap::sparse_extents> sparse_cold(std::uint64_t live_bytes) {
  if (!is_worth_compacting(heap::packing_of(heap::kind::cold), kSparseColdShare)) return {};
  return heap::sparsest_of(heap::kind::cold,
                           {.live_share = kSparseColdShare, .live_bytes = live_bytes});
}

}  // namespace isotherm::collector
