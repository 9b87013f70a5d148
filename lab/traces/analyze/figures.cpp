#include "lab/traces/analyze/figures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "lab/workload/generators.hpp"
#include "lab/workload/lru.hpp"

namespace isotherm::traces {
namespace {

constexpr double kRooms[] = {0.01, 0.05, 0.1, 0.25, 0.5, 0.75};

/// The uses of each key, side by side in their order.
class uses_by_key {
 public:
  explicit uses_by_key(const follower& seen)
      : begin_(seen.keys().size() + 1), places_(seen.uses().size()) {
    for (const auto& each : seen.uses()) ++begin_[each.key + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    auto next = begin_;
    for (const auto& each : seen.uses()) places_[next[each.key]++] = each.place;
  }

  std::span<const std::uint64_t> operator[](std::size_t key) const noexcept {
    return std::span(places_).subspan(begin_[key], begin_[key + 1] - begin_[key]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint64_t> places_;
};

/// The value of which a share of `sorted`, which is not empty, is smaller.
double quantile(std::span<const double> sorted, double share) noexcept {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

std::vector<size_class> size_classes() {
  return {{.name = "unknown", .least = 0},     {.name = "1-63 B", .least = 1},
          {.name = "64-255 B", .least = 64},   {.name = "256-1023 B", .least = 256},
          {.name = "1-4 KiB", .least = 1024},  {.name = "4-64 KiB", .least = 4096},
          {.name = "64 KiB-", .least = 65'536}};
}

std::size_t class_of(std::span<const size_class> all, std::uint32_t value_size) noexcept {
  std::size_t found = 0;
  while (found + 1 < all.size() && all[found + 1].least <= value_size) ++found;
  return found;
}

std::vector<size_class> find_gaps(const follower& seen, const uses_by_key& uses) {
  auto all = size_classes();
  std::vector<std::vector<double>> medians(all.size());
  std::vector<double> gaps;
  for (std::size_t key = 0; key < seen.keys().size(); ++key) {
    const std::size_t in = class_of(all, seen.keys()[key].value_size);
    size_class& mine = all[in];
    ++mine.keys;
    gaps.clear();
    const auto places = uses[key];
    for (std::size_t i = 1; i < places.size(); ++i) {
      gaps.push_back(static_cast<double>(places[i] - places[i - 1]));
    }
    if (gaps.size() < kLeastGaps) continue;
    std::ranges::sort(gaps);
    const double spread = quantile(gaps, 0.75) / quantile(gaps, 0.25);
    ++mine.gapped_keys;
    mine.over_5 += spread > 5;
    mine.over_10 += spread > 10;
    mine.over_30 += spread > 30;
    medians[in].push_back(quantile(gaps, 0.5));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].gapped_keys == 0) continue;
    const auto keys = static_cast<double>(all[i].gapped_keys);
    for (double* share : {&all[i].over_5, &all[i].over_10, &all[i].over_30}) *share /= keys;
    std::ranges::sort(medians[i]);
    all[i].median_gap = quantile(medians[i], 0.5);
  }
  return all;
}

/// Logarithm of the likelihood of the uses, most popular first, less what no theta changes.
double likelihood(std::span<const std::uint64_t> uses, double sum_of_logs, double all,
                  double theta) {
  return -theta * sum_of_logs - all * std::log(workload::zeta(uses.size(), theta));
}

/// Fits Zipf's law to the uses by rank: the theta with the greatest likelihood, by golden section
/// (the likelihood has one peak).
double fit_theta(std::span<const std::uint64_t> uses) {
  double sum_of_logs = 0;
  double all = 0;
  for (std::size_t rank = 0; rank < uses.size(); ++rank) {
    sum_of_logs += static_cast<double>(uses[rank]) * std::log(static_cast<double>(rank + 1));
    all += static_cast<double>(uses[rank]);
  }
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = 0.001;
  double high = 5;
  while (high - low > 1e-4) {
    const double left = high - golden * (high - low);
    const double right = low + golden * (high - low);
    if (likelihood(uses, sum_of_logs, all, left) < likelihood(uses, sum_of_logs, all, right)) {
      low = left;
    } else {
      high = right;
    }
  }
  return (low + high) / 2;
}

double misfit_of(std::span<const std::uint64_t> uses, double theta) {
  const auto all = static_cast<double>(std::reduce(uses.begin(), uses.end()));
  const double zeta = workload::zeta(uses.size(), theta);
  double sum = 0;
  double fitted = 0;
  double worst = 0;
  for (std::size_t rank = 0; rank < uses.size(); ++rank) {
    sum += static_cast<double>(uses[rank]) / all;
    fitted += std::pow(static_cast<double>(rank + 1), -theta) / zeta;
    worst = std::max(worst, std::abs(sum - fitted));
  }
  return worst;
}

std::vector<figures::room> lru_misses(const follower& seen) {
  workload::use_order order;
  workload::miss_curve curve(seen.one_in());
  curve.count_requests(seen.requests());
  std::uint64_t first_uses = 0;
  for (const auto& each : seen.uses()) {
    const auto distance = order.use(each.key);
    if (distance) curve.count(*distance);
    first_uses += !distance;
  }
  // A first use misses in every cache.
  const double compulsory = std::min(
      1.0, static_cast<double>(first_uses) * seen.one_in() / static_cast<double>(seen.requests()));
  const double keys = static_cast<double>(seen.keys().size()) * seen.one_in();
  std::vector<figures::room> rooms;
  for (const double share : kRooms) {
    const double misses = curve.misses(static_cast<std::uint64_t>(share * keys));
    rooms.push_back({.share = share, .misses = std::min(1.0, compulsory + misses)});
  }
  return rooms;
}

heat_map heat_of(const follower& seen, std::span<const std::uint32_t> ranks) {
  heat_map map;
  map.keys_per_column = (ranks.size() + heat_map::kColumns - 1) / heat_map::kColumns;
  map.requests_per_row = (seen.requests() + heat_map::kRows - 1) / heat_map::kRows;
  for (const auto& each : seen.uses()) {
    map.cells[each.place / map.requests_per_row][ranks[each.key] / map.keys_per_column] +=
        1 / static_cast<double>(map.keys_per_column);
  }
  return map;
}

}  // namespace

double figures::share_of_top(double share) const noexcept {
  const auto top = static_cast<std::ptrdiff_t>(
      std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(uses.size())));
  const auto all = std::reduce(uses.begin(), uses.end());
  return static_cast<double>(std::reduce(uses.begin(), uses.begin() + top)) /
         static_cast<double>(std::max<std::uint64_t>(all, 1));
}

figures compute(const follower& seen) {
  figures made;
  made.requests = seen.requests();
  made.by_kind = seen.by_kind();
  made.seconds = static_cast<double>(seen.last_us() - seen.first_us()) / 1e6;
  made.mean_value = static_cast<double>(seen.value_bytes()) /
                    static_cast<double>(std::max<std::uint64_t>(seen.sized_requests(), 1));
  made.one_in = seen.one_in();
  made.keys = static_cast<double>(seen.keys().size()) * made.one_in;
  if (seen.keys().empty()) return made;
  for (const auto& each : seen.keys()) {
    made.key_bytes += each.key_size * made.one_in;
    made.value_bytes += each.value_size * made.one_in;
  }
  const uses_by_key uses(seen);
  std::vector<std::uint32_t> by_rank(seen.keys().size());
  std::iota(by_rank.begin(), by_rank.end(), 0);
  // Equally popular keys stand in no order, above all not in that of their first uses.
  std::ranges::sort(by_rank, [&](std::uint32_t left, std::uint32_t right) {
    const std::size_t more = uses[left].size();
    const std::size_t fewer = uses[right].size();
    return more != fewer ? more > fewer : seen.keys()[left].hash < seen.keys()[right].hash;
  });
  std::vector<std::uint32_t> ranks(by_rank.size());
  for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) {
    ranks[by_rank[rank]] = rank;
    made.uses.push_back(uses[by_rank[rank]].size());
  }
  made.used_once =
      static_cast<double>(std::ranges::count(made.uses, 1)) / static_cast<double>(made.uses.size());
  made.theta = fit_theta(made.uses);
  made.misfit = misfit_of(made.uses, made.theta);
  made.sizes = find_gaps(seen, uses);
  made.lru = lru_misses(seen);
  made.heat = heat_of(seen, ranks);
  return made;
}

base::result<figures> analyze(source& trace, const follow_limits& limits) {
  follower seen(limits);
  request next;
  for (;;) {
    const auto more = trace.next(next);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    seen.add(next);
  }
  figures made = compute(seen);
  made.format = trace.format();
  made.malformed = trace.malformed();
  made.has_times = trace.has_times();
  return made;
}

}  // namespace isotherm::traces
