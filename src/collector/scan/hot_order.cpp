#include "collector/scan/hot_order.hpp"

#include <algorithm>
#include <functional>

#include "collector/scan/candidates.hpp"
#include "collector/scan/search.hpp"
#include "guide/soda.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {

namespace {

/// An extent of HOT is worth emptying when so much of what lives there is misplaced: fewer are not
/// worth the copies of their neighbours.
constexpr double kWorthSorting = 1.0 / 16;
/// To sort HOT may cost so much: about a hundredth of a processor's time.
constexpr double kSortingBytesPerSecond = 8 << 20;
/// The cost of the visit of a guide, in bytes that could be copied meanwhile.
constexpr std::uint64_t kVisitCostBytes = 32;
/// The cost of extents whose objects surely fit in one list of find_in_order().
constexpr std::uint64_t kInOneList = (kFoundInOrder - guides::kGranuleSlots) * kMoveCostBytes;
/// The most of that time that is saved: enough for an extent of the smallest objects.
constexpr std::uint64_t kMostSaved = 2 * kInOneList;

}  // namespace

void hot_order::note(const policy& decides, guides::word w) noexcept {
  const void* const object = guides::pointer_of(w);
  const std::size_t extent = heap::extent_of(heap::kind::hot, object);
  if (extent >= extents_.size()) return;
  const std::uint64_t bytes = guides::size_of_class(guides::size_class_of(w));
  ++guides_;
  extents_[extent].bytes += bytes;
  extents_[extent].cost += bytes + kMoveCostBytes;
  const heap::band now = heap::band_of(object);
  if (decides.band(w, now) != now) extents_[extent].misplaced += bytes;
}

std::vector<hot_order::costly_extent> hot_order::out_of_order() const {
  std::vector<costly_extent> found;
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const sum& each = extents_[i];
    const auto misplaced = static_cast<double>(each.misplaced);
    const bool is_worth_it =
        each.misplaced > 0 && misplaced >= kWorthSorting * static_cast<double>(each.bytes);
    if (!is_worth_it || !heap::is_closed_and_used(heap::kind::hot, i)) continue;
    found.push_back({misplaced / static_cast<double>(each.cost), each.cost, i});
  }
  std::ranges::sort(found, std::greater(), &costly_extent::gain);
  return found;
}

std::vector<heap::sparse_extents> hot_order::worst(double seconds) {
  const auto earned = static_cast<std::uint64_t>(seconds * kSortingBytesPerSecond);
  time_ = std::min(time_ + earned, std::max(earned, kMostSaved));
  const std::uint64_t pass = guides_ * kVisitCostBytes;
  std::vector<heap::sparse_extents> groups;
  std::uint64_t room = 0;  // in the list of the last group
  for (const costly_extent& each : out_of_order()) {
    // The first group's pass is not counted: there has been one of them for the window anyway.
    const std::uint64_t visits = groups.empty() || each.cost <= room ? 0 : pass;
    if (each.cost + visits > time_) continue;
    if (groups.empty() || each.cost > room) {
      groups.emplace_back(heap::kind::hot, extents_.size());
      room = kInOneList;
    }
    groups.back().choose(each.number);
    room -= std::min(room, each.cost);
    time_ -= each.cost + visits;
  }
  return groups;
}

}  // namespace isotherm::collector
