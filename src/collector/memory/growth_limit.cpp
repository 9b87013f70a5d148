#include "collector/memory/growth_limit.hpp"

#include <algorithm>
#include <utility>

#include "heap/upkeep.hpp"

namespace isotherm::collector {

namespace {
/// By which share of its target DRAM has to exceed it before growth is refused.
constexpr std::uint64_t kRefusedShare = 16;
/// And for how long without having fallen.
constexpr std::chrono::seconds kRefusedAfter{1};
}  // namespace

std::uint64_t allowed_growth(const memory_room& now) noexcept {
  if (now.target_bytes == 0) return heap::kUnlimitedGrowth;
  if (now.is_short()) return 0;
  return (now.target_bytes - now.dram_bytes) / 2;
}

void growth_limit::follow(const memory_room& now, time_point time) {
  const std::uint64_t refused_at = now.target_bytes + now.target_bytes / kRefusedShare;
  if (!now.is_short()) {
    refuses_.store_relaxed(false);
    least_bytes_ = ~std::uint64_t{0};
  } else if (now.dram_bytes < least_bytes_) {
    least_bytes_ = now.dram_bytes;
    least_at_ = time;
  } else if (now.dram_bytes > refused_at && time - least_at_ >= kRefusedAfter) {
    refuses_.store_relaxed(true);
  }
  heap::allow_growth(allowed_growth(now));
}

void growth_limit::release() noexcept {
  heap::allow_growth(heap::kUnlimitedGrowth);
  refuses_.store_relaxed(false);
  least_bytes_ = ~std::uint64_t{0};
}

}  // namespace isotherm::collector
