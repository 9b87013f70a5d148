#include "collector/compaction.hpp"

#include <algorithm>

namespace isotherm::collector {

namespace {
constexpr double kMost = 0x1p62;  // bytes
constexpr std::uint64_t kWorthCompacting = std::uint64_t{8} << 20;
}  // namespace

bool is_worth_compacting(const heap::packing& cold) noexcept {
  const auto live = static_cast<double>(cold.live_bytes);
  return cold.used_bytes > kWorthCompacting &&
         live < kSparseColdShare * static_cast<double>(cold.used_bytes);
}

std::uint64_t compaction_bytes(const options& chosen, const window_statistics& seen,
                               double bytes_each) noexcept {
  const double read = chosen.misses_per_second * seen.window_seconds * bytes_each;
  return std::max({static_cast<std::uint64_t>(std::min(read, kMost)), seen.promoted.bytes / 2,
                   chosen.batch_bytes});
}

}  // namespace isotherm::collector
