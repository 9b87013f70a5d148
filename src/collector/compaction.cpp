#include "collector/compaction.hpp"

#include <algorithm>
#include <span>

#include "collector/scan.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::collector {

namespace {
constexpr double kMost = 0x1p62;  // bytes
constexpr std::uint64_t kWorthCompacting = std::uint64_t{8} << 20;
constexpr std::uint64_t kWorthGaining = std::uint64_t{1} << 20;  // an extent
/// An extent of HOT is not emptied for next to nothing: there a byte gained costs 32 copied.
constexpr double kDenseShare = 1 - 1.0 / 32;

/// Group by group; each is a pass over the guides that `find` visits.
bool empty_all(std::span<const heap::sparse_extents> groups, migration& moves,
               std::vector<candidate>& candidates, const std::function<bool()>& stop,
               const auto& find) {
  bool may_move = true;
  for (const heap::sparse_extents& group : groups) {
    for (guides::progress so_far; may_move && !so_far.is_over && !stop();) {
      find(group, so_far, candidates);
      may_move = moves.run(candidates);
    }
  }
  return may_move;
}
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

bool compact_hot(migration& moves, const hot_compaction& asked, std::vector<candidate>& candidates,
                 const std::function<bool()>& stop) {
  const std::uint64_t gain =
      hot_bytes_to_gain(heap::packing_of(heap::kind::hot), asked.short_bytes);
  if (gain < kWorthGaining) return true;
  const auto groups = heap::sparsest_of(heap::kind::hot, {.live_share = kDenseShare,
                                                          .dead_bytes = gain,
                                                          .together_bytes = asked.together_bytes,
                                                          .end = asked.end});
  return empty_all(groups, moves, candidates, stop, find_hot_compactions);
}

bool compact_cold(migration& moves, std::uint64_t live_bytes, std::vector<candidate>& candidates,
                  const std::function<bool()>& stop) {
  if (!is_worth_compacting(heap::packing_of(heap::kind::cold), kSparseColdShare)) return true;
  const auto groups = heap::sparsest_of(heap::kind::cold,
                                        {.live_share = kSparseColdShare, .live_bytes = live_bytes});
  return empty_all(groups, moves, candidates, stop, find_cold_compactions);
}

}  // namespace isotherm::collector
