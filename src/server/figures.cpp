#include "server/figures.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "server/server.hpp"

namespace isotherm::server {

namespace {

/// Reads the figure of the row of that name.
struct source {
  std::string_view name;
  std::uint64_t (*get)(server&);
  void (*reset)(server&) = nullptr;  ///< null: CONFIG RESETSTAT leaves it
};

template <base::sharded_counter store::counters::* counter>
constexpr source of_database(std::string_view name) {
  return {name, [](server& of) { return (of.db().counted().*counter).sum(); },
          [](server& of) { (of.db().counted().*counter).reset(); }};
}

/// One for each row that is not `counted`.
constexpr source kSources[] = {
    {"keys", [](server& of) { return std::uint64_t{of.db().keys()}; }},
    {"used_memory_bytes", [](server& of) { return of.db().memory().sampled_bytes(); }},
    {"maxmemory_bytes", [](server& of) { return of.tuning().maxmemory.load_relaxed(); }},
    {"clients", [](server& of) { return std::uint64_t{of.clients().size()}; }},
    {"commands_per_second", [](server& of) { return of.commands_per_second(); }},
    of_database<&store::counters::expired>("expired_keys"),
    of_database<&store::counters::hits>("keyspace_hits"),
    of_database<&store::counters::misses>("keyspace_misses"),
    {"error_replies", [](server& of) { return of.errors_by_code.sum(); },
     [](server& of) { of.errors_by_code.reset(); }},
    {"reply_p50_us", [](server& of) { return of.reply_time_us(0); }},
    {"reply_p99_us", [](server& of) { return of.reply_time_us(1); }},
    {"reply_p999_us", [](server& of) { return of.reply_time_us(2); }},
    {"refused_cold_objects",
     [](server& of) { return of.manager() ? of.manager()->refused_cold_objects() : 0; }},
    {"loop_major_faults", [](server& of) { return of.loop_major_faults(); }},
};

constexpr std::size_t kRows = kFigureRows.size();
static_assert(std::size(kSources) == kRows - counted_among(kRows));

template <std::size_t number>
std::uint64_t sum_of(server& of) {
  return of.statistics.sum(kFigureRows[number].name.data());
}

template <std::size_t number>
consteval server_figure figure_of() {
  constexpr figure_row kRow = kFigureRows[number];
  if constexpr (kRow.is_counted) {
    return {kRow, &sum_of<number>};
  } else {
    return {kRow, std::ranges::find(kSources, kRow.name, &source::name)->get};
  }
}

constexpr auto kFigures = []<std::size_t... number>(std::index_sequence<number...>) {
  return std::array<server_figure, kRows>{figure_of<number>()...};
}(std::make_index_sequence<kRows>());

}  // namespace

std::span<const server_figure> server_figures() noexcept { return kFigures; }

void reset_figures(server& of) {
  of.statistics.reset();
  for (const source& each : kSources) {
    if (each.reset != nullptr) each.reset(of);
  }
}

}  // namespace isotherm::server
