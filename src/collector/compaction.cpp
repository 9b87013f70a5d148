#include "collector/compaction.hpp"

#include <algorithm>

#include "collector/scan.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::collector {

namespace {
constexpr double kMost = 0x1p62;  // bytes
constexpr std::uint64_t kWorthCompacting = std::uint64_t{8} << 20;
bool move_all(migration& moves, std::vector<candidate>& candidates,
              const std::function<bool()>& stop, const auto& find) {
  bool may_move = true;
  for (guides::progress so_far; may_move && !so_far.is_over && !stop();) {
    find(so_far, candidates);
    may_move = moves.run(candidates);
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

bool compact_hot(migration& moves, std::vector<candidate>& candidates,
                 const std::function<bool()>& stop) {
  if (!is_worth_compacting(heap::packing_of(heap::kind::hot), kSparseHotShare)) return true;
  return move_all(moves, candidates, stop, find_hot_compactions);
}

bool compact_cold(migration& moves, std::uint64_t live_bytes, std::vector<candidate>& candidates,
                  const std::function<bool()>& stop) {
  if (!is_worth_compacting(heap::packing_of(heap::kind::cold), kSparseColdShare)) return true;
  const heap::sparse_extents extents = heap::sparsest_of_cold(live_bytes, kSparseColdShare);
  return move_all(moves, candidates, stop, [&](auto& so_far, auto& found) {
    find_cold_compactions(extents, so_far, found);
  });
}

}  // namespace isotherm::collector
