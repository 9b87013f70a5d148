#include "lab/tiers/best_placement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "placement/node_memory.hpp"

namespace isotherm::lab {
namespace {

struct candidate {
  const void* node;
  std::size_t level;
  std::uint64_t bytes;
  node_tally counts;
};

std::vector<candidate> nodes_of(placement::placed_tree& tree, const visit_counter& counts) {
  std::vector<candidate> found;
  std::vector<void*> above;         // of the last leaf
  std::vector<std::size_t> places;  // of these in `found`
  std::string cursor;
  const sync::scope inside;
  tree.visit_leaves(inside, cursor, [&](const placement::visited_leaf& leaf) {
    const auto inner = leaf.path.first(leaf.path.size() - 1);
    for (std::size_t level = 0; level < inner.size(); ++level) {
      if (level < above.size() && above[level] == inner[level]) continue;
      above.resize(level);
      above.push_back(inner[level]);
      places.resize(level);
      places.push_back(found.size());
      // The root of a radix tree is in neither tier.
      if (!placement::is_slow(inner[level])) continue;
      found.push_back(
          {inner[level], level, placement::bytes_of(inner[level]), counts.of_node(inner[level])});
    }
    const std::size_t level = inner.size();
    if (level < above.size() && above[level] == leaf.path.back()) {
      if (placement::is_slow(leaf.path.back())) found[places[level]].bytes += leaf.bytes;
      return true;  // an inner node too, whose visits are counted
    }
    above.resize(level);
    places.resize(level);
    found.push_back({leaf.path.back(), level, leaf.bytes, counts.of_node(leaf.path.back())});
    return true;
  });
  return found;
}

/// Returns the sum of `value` over the nodes that `room` holds, the last one in part.
template <class Value>
std::uint64_t most_that_fits(std::vector<candidate>& nodes, std::uint64_t room, Value value) {
  const auto density = [&value](const candidate& each) {
    return static_cast<double>(value(each)) / static_cast<double>(each.bytes);
  };
  std::ranges::sort(nodes, std::greater(), density);
  std::uint64_t sum = 0;
  for (const candidate& each : nodes) {
    if (each.bytes > room) {
      return sum + static_cast<std::uint64_t>(density(each) * static_cast<double>(room));
    }
    room -= each.bytes;
    sum += value(each);
  }
  return sum;
}

void move_to_fast(std::array<std::uint64_t, 2>& by_tier, std::uint64_t count) {
  const std::uint64_t moved = std::min(count, by_tier[1]);
  by_tier[0] += moved;
  by_tier[1] -= moved;
}

using page_visits = std::vector<std::uint32_t>;  // of its nodes

std::uint64_t sum_of(const page_visits& page) {
  return std::accumulate(page.begin(), page.end(), std::uint64_t{0});
}

}  // namespace

hot_pages find_hot_pages(placement::placed_tree& tree, const visit_counter& counts) {
  constexpr unsigned kPageShift = 12, kOneIn = 100;
  std::map<std::uintptr_t, page_visits> by_address;
  for (const candidate& each : nodes_of(tree, counts)) {
    const auto page = reinterpret_cast<std::uintptr_t>(each.node) >> kPageShift;
    by_address[page].push_back(each.counts.visits);
  }
  std::vector<page_visits> pages;
  pages.reserve(by_address.size());
  for (auto& [address, visits] : by_address) pages.push_back(std::move(visits));
  std::ranges::sort(pages, std::greater(),
                    [](const page_visits& page) { return std::pair(sum_of(page), page); });
  pages.resize(
      std::max<std::size_t>(pages.size() / kOneIn, std::min<std::size_t>(1, pages.size())));
  hot_pages found;
  for (page_visits& page : pages) {
    const double share = 1 / static_cast<double>(pages.size());
    std::ranges::sort(page, std::greater());
    const auto all = static_cast<double>(std::max<std::uint64_t>(sum_of(page), 1));
    found.share_of_top_node += share * static_cast<double>(page.front()) / all;
    found.upper_quartile += share * static_cast<double>(page[page.size() / 4]);
    found.nodes += share * static_cast<double>(page.size());
  }
  return found;
}

void place_best(placement::placed_tree& tree, const visit_counter& counts, std::uint64_t room,
                visit_tally& sum) {
  auto nodes = nodes_of(tree, counts);
  move_to_fast(sum.visits, most_that_fits(nodes, room, [](const candidate& each) {
                 return each.counts.visits;
               }));
  for (std::size_t i = 0; i < kCaches; ++i) {
    move_to_fast(sum.misses[i], most_that_fits(nodes, room, [i](const candidate& each) {
                   return each.counts.misses[i];
                 }));
  }
}

void place_slow_fast(placement::placed_tree& tree, const visit_counter& counts, std::uint64_t room,
                     visit_tally& sum) {
  struct level_sum {
    std::uint64_t bytes = 0, visits = 0;
    std::array<std::uint64_t, kCaches> misses{};
  };
  std::map<std::size_t, level_sum, std::greater<>> levels;  // the lowest first
  for (const candidate& each : nodes_of(tree, counts)) {
    level_sum& level = levels[each.level];
    level.bytes += each.bytes;
    level.visits += each.counts.visits;
    for (std::size_t i = 0; i < kCaches; ++i) level.misses[i] += each.counts.misses[i];
  }
  for (const auto& [_, level] : levels) {
    const std::uint64_t fits = std::min(level.bytes, room);
    const double share = static_cast<double>(fits) / static_cast<double>(level.bytes);
    const auto of = [share](std::uint64_t count) {
      return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(count)));
    };
    move_to_fast(sum.visits, of(level.visits));
    for (std::size_t i = 0; i < kCaches; ++i) move_to_fast(sum.misses[i], of(level.misses[i]));
    room -= fits;
  }
}

}  // namespace isotherm::lab
