#include "live/address_map.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/page.hpp"
#include "collector/policy/temperature.hpp"
#include "heap/usage.hpp"
#include "os/memory/residency.hpp"

namespace isotherm::live {

namespace {

using collector::page_uses;
using nlohmann::json;

struct piece {
  heap::kind where;
  std::uint64_t from, count;  // pages from the heap's begin on
};

std::uint64_t pages_of(heap::kind where) {
  const std::uintptr_t bytes = heap::used_end(where) - heap::range_of(where).begin;
  return (bytes + base::kPageBytes - 1) / base::kPageBytes;
}

const void* address_of(heap::kind where, std::uint64_t page) {
  return reinterpret_cast<const void*>(heap::range_of(where).begin + page * base::kPageBytes);
}

/// A share as a digit: 0 for none, 9 for all.
char digit_of(double share) noexcept {
  return share <= 0 ? '0' : static_cast<char>('1' + std::lround(std::min(share, 1.0) * 8));
}

/// A rate as a digit: 9 for every window, one less for each halving, 1 for what is used less than
/// once in 128 windows; 0: nothing was seen of it.
char digit_of_rate(collector::rate hottest) noexcept {
  if (hottest == 0) return '0';
  const unsigned octaves = (collector::kRates - 1 - hottest) / collector::kRatesPerOctave;
  return static_cast<char>('9' - std::min(octaves, 8U));
}

/// A digit a cell of `per_cell` pages: 1 where an object may live, 0 where the addresses have been
/// given back.
std::string held_cells(const piece& part, std::uint64_t per_cell) {
  constexpr std::uint64_t kPagesOfOne = (std::uint64_t{1} << 20) / base::kPageBytes;
  if (!heap::holds_objects(part.where))
    return std::string((part.count + per_cell - 1) / per_cell, '1');
  const std::vector<bool> used = heap::used_mebibytes(part.where);
  const auto is_used = [&](std::uint64_t page) {
    const std::uint64_t at = page / kPagesOfOne;
    return at < used.size() && used[at];
  };
  std::string held;
  for (std::uint64_t at = part.from; at < part.from + part.count; at += per_cell) {
    bool is_any = false;
    const std::uint64_t end = std::min(at + per_cell, part.from + part.count);
    for (std::uint64_t page = at; page < end && !is_any; page += kPagesOfOne)
      is_any = is_used(page);
    held += is_any || is_used(end - 1) ? '1' : '0';
  }
  return held;
}

/// {"heap": name, "pages": of all, "from":, "pages_per_cell":, "in_dram":, "held":, "used":,
/// "temperature":}, the last four with a digit a cell.
json cells_of(const piece& part, const page_uses* uses) {
  const std::uint64_t per_cell =
      std::bit_ceil((part.count + address_map::kCells - 1) / address_map::kCells);
  const auto resident = os::resident_cells(address_of(part.where, part.from), part.count,
                                           std::max(per_cell, std::uint64_t{1}));
  std::string used, temperature;
  for (std::uint64_t at = 0; uses && at < part.count; at += per_cell) {
    const std::uint64_t end = std::min(at + per_cell, part.count);
    std::uint64_t bytes = 0;
    collector::rate hottest = 0;
    for (std::uint64_t page = at; page < end; ++page) {
      const auto one = uses->of(part.where, part.from + page);
      bytes += one.used_bytes;
      hottest = std::max(hottest, one.hottest);
    }
    used += digit_of(base::page_utilization(bytes, end - at));
    temperature += digit_of_rate(hottest);
  }
  return {{"heap", name_of(part.where)},
          {"pages", pages_of(part.where)},
          {"from", part.from},
          {"pages_per_cell", std::max(per_cell, std::uint64_t{1})},
          {"in_dram", resident ? resident->cells : std::string()},
          {"held", held_cells(part, std::max(per_cell, std::uint64_t{1}))},
          {"used", used},
          {"temperature", temperature}};
}

/// Returns the window of the uses: null where none were recorded yet.
json window_of(const page_uses* uses) { return uses ? json(uses->window()) : json(nullptr); }

map_answer later(const pace& of) { return {{}, of.wait_ns() / 1'000'000 + 1}; }

}  // namespace

map_answer address_map::overview() {
  const auto uses = collector_.last_page_uses();  // in any case: it orders the next window's
  if (looking_.wait_ns() > 0) return overview_.empty() ? later(looking_) : map_answer{overview_};
  looking_.run([this, &uses] {
    json heaps = json::array();
    for (const heap::kind where : heap::kKinds) {
      heaps.push_back(cells_of({where, 0, pages_of(where)}, uses.get()));
    }
    const json all{{"window", window_of(uses.get())},
                   {"utilization_bound", uses ? uses->utilization_bound() : 0},
                   {"heaps", std::move(heaps)}};
    overview_ = all.dump();
  });
  return {overview_};
}

map_answer address_map::part(heap::kind where, std::uint64_t from, std::uint64_t count) {
  if (zooming_.wait_ns() > 0) return later(zooming_);
  return zooming_.run([&]() -> map_answer {
    const auto uses = collector_.last_page_uses();
    const std::uint64_t all = pages_of(where);
    const std::uint64_t first = std::min(from, all);
    json found = cells_of({where, first, std::min({count, all - first, kPagesMost})}, uses.get());
    found["window"] = window_of(uses.get());
    return {found.dump()};
  });
}

map_answer address_map::page(heap::kind where, std::uint64_t number) {
  if (searching_.wait_ns() > 0) return later(searching_);
  constexpr std::uint64_t kWhileAWindowRunsMs = 500;
  return searching_.run([&]() -> map_answer {
    json found{{"heap", name_of(where)}, {"page", number}, {"objects", json::array()}};
    if (number >= pages_of(where)) return {found.dump()};
    const auto begin = reinterpret_cast<std::uintptr_t>(address_of(where, number));
    const auto uses = collector_.last_page_uses();
    const auto use = uses ? uses->of(where, number) : collector::page_use{};
    const auto resident = os::resident_bytes(address_of(where, number), base::kPageBytes);
    found["address"] = begin;
    found["in_dram"] = resident && *resident > 0;
    found["window"] = window_of(uses.get());
    found["used_bytes"] = use.used_bytes;
    found["temperature"] = collector::share_of(use.hottest);
    if (!heap::holds_objects(where)) return {found.dump()};
    const auto objects = collector_.objects_in({begin, begin + base::kPageBytes});
    if (!objects) return {{}, kWhileAWindowRunsMs};
    for (const auto& each : *objects) {
      found["objects"].push_back({{"address", each.address},
                                  {"bytes", each.bytes},
                                  {"temperature", collector::share_of(each.of_use)},
                                  {"used", each.was_used}});
    }
    return {found.dump()};
  });
}

}  // namespace isotherm::live
