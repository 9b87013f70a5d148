// ISOTHERM STATS|HEAPS|PAGES|NODES|LOCATE|COLLECT|CONFIG: what the object collector sees and does.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "base/page.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/usage.hpp"
#include "os/memory/residency.hpp"
#include "placement/registry.hpp"
#include "server/commands/families.hpp"
#include "server/figures.hpp"
#include "server/server.hpp"
#include "store/text.hpp"

namespace isotherm::server {

using namespace store;

namespace {

void refuse_unmanaged(call& c) {
  c.out.error("ERR management is off: start the server with --manage on or --manage track");
}
/// Answers with an error and returns null when management is off.
management* manager_of(call& c) {
  management* const manager = sender(c).server.manager();
  if (!manager) refuse_unmanaged(c);
  return manager;
}

void field(reply& out, std::string_view name, std::uint64_t value) {
  out.bulk(name);
  out.integer(static_cast<std::int64_t>(value));
}
void field(reply& out, std::string_view name, double value) {
  out.bulk(name);
  out.real(value);
}
void field(reply& out, std::string_view name, std::string_view value) {
  out.bulk(name);
  out.bulk(value);
}

void field(reply& out, std::string_view name, std::variant<std::uint64_t, double> value) {
  std::visit([&](auto number) { field(out, name, number); }, value);
}
void fields(reply& out, const auto& table, auto& source) {
  for (const auto& each : table) field(out, each.name, each.get(source));
}

heap::footprint footprint_beside_heaps() {
  return heap::read_footprint(heap::usage_of(heap::kind::cold).resident_bytes);
}

void answer_stats(reply& out, server& server) {
  management* const manager = server.manager();
  constexpr std::size_t kWords = 2, kManagedWords = 1;
  const std::size_t always = kWords + heap::footprint_table().size() + server_figures().size();
  const std::size_t managed = kManagedWords + heap::cold_statistic_table().size() +
                              heap::cold_file_table().size() + collector::statistic_table().size();
  out.map(always + (manager ? managed : 0));
  field(out, "index", server.db().index().name());
  field(out, "manage", manager ? manager->mode() : "off");
  const heap::footprint memory =
      manager ? footprint_beside_heaps() : heap::read_footprint_without_heaps();
  fields(out, heap::footprint_table(), memory);
  fields(out, server_figures(), server);
  if (!manager) return;
  field(out, "problem", std::string_view(manager->problem()));
  const heap::cold_read_statistics reads = heap::cold_reads();
  fields(out, heap::cold_statistic_table(), reads);
  const heap::cold_file_statistics file = heap::cold_file();
  fields(out, heap::cold_file_table(), file);
  const collector::window_statistics last = manager->last_window();
  fields(out, collector::statistic_table(), last);
}

void answer_heaps(reply& out, const heap::per_kind<heap::usage>& all) {
  out.map(heap::kKinds.size());
  for (const heap::kind where : heap::kKinds) {
    const heap::usage& usage = all[where];
    out.bulk(name_of(where));
    out.map(heap::usage_table().size());
    fields(out, heap::usage_table(), usage);
  }
}

// STATS, HEAPS and PAGES are deferred: they count pages in DRAM, a quarter of a millisecond for
// each 10 MiB of COLD, for which other clients would wait.

void stats(call& c) {
  server& server = sender(c).server;
  if (!server.manager()) return answer_stats(c.out, server);
  server.defer(sender(c), [&server](reply& out) { answer_stats(out, server); });
}

void heaps(call& c) {
  management* manager = manager_of(c);
  if (!manager) return;
  sender(c).server.defer(sender(c), [manager](reply& out) { answer_heaps(out, manager->heaps()); });
}

/// Answers for each heap with a text of one digit for each cell: how much of the cell is in DRAM,
/// from 0 (no page) to 9 (all pages). A cell is one page, or several in a heap of more than 4 GiB.
void answer_pages(reply& out) {
  constexpr std::size_t kMostCells = std::size_t{1} << 20;
  out.map(heap::kKinds.size());
  for (const heap::kind where : heap::kKinds) {
    const std::uintptr_t begin = heap::range_of(where).begin;
    const std::size_t count =
        (heap::used_end(where) - begin + base::kPageBytes - 1) / base::kPageBytes;
    std::size_t per_cell = 1;
    while (count / per_cell > kMostCells) per_cell *= 2;
    const auto map = os::resident_cells(reinterpret_cast<const void*>(begin), count, per_cell);
    out.bulk(name_of(where));
    out.map(6);
    field(out, "address", std::uint64_t{begin});
    field(out, "pages", std::uint64_t{count});
    field(out, "pages_per_cell", std::uint64_t{per_cell});
    field(out, "extent_bytes", heap::usage_of(where, heap::residency::left_out).extent_bytes);
    field(out, "resident_bytes", map ? map->resident_pages * base::kPageBytes : 0);
    field(out, "cells", std::string_view(map ? map->cells : std::string()));
  }
}

void pages(call& c) {
  if (manager_of(c)) sender(c).server.defer(sender(c), answer_pages);
}

/// ISOTHERM LOCATE key [key ...]: for each key the address and the length of its value, null where
/// there is none. Counts no hit, no miss and no time of use; to the collector it is a use, and it
/// brings back a value that is out.
void locate(call& c) {
  constexpr std::size_t kFirstKey = 2;
  struct place {
    std::intptr_t address;
    std::size_t bytes;
  };
  std::vector<std::optional<place>> places;
  for (std::size_t i = kFirstKey; i < c.count(); ++i) {
    c.in().renew();
    const auto looked = c.find(c[i], lookup::peek);
    if (!looked) {
      c.fail(looked.error());  // the others are read meanwhile
    } else if (const std::optional<store::record>& found = *looked) {
      const std::string_view value = found->payload;
      places.push_back(place{reinterpret_cast<std::intptr_t>(value.data()), value.size()});
    } else {
      places.emplace_back();
    }
  }
  if (c.failure != access::outcome::complete) return;
  c.out.array(places.size());
  for (const auto& each : places) {
    if (!each) {
      c.out.null();
      continue;
    }
    c.out.array(2);
    c.out.integer(each->address);
    c.out.integer(static_cast<std::int64_t>(each->bytes));
  }
}

void collect(call& c) {
  management* manager = manager_of(c);
  if (!manager) return;
  client& client = sender(c);
  client.server.defer(client, [manager](reply& out) {
    const auto seen = manager->collect();
    out.map(collector::statistic_table().size());
    fields(out, collector::statistic_table(), seen);
  });
}

constexpr std::string_view kFastMemory = "fast-memory";

void set_fast_memory(call& c, placement::node_placement& nodes, std::string_view text) {
  const auto size = parse_fast_size(text);
  if (!size) return c.out.error("ERR fast-memory takes bytes, 512mb or 20%");
  nodes.resize(*size);
  c.out.ok();
}

/// The collector's parameters, and that of node placement.
void config(call& c) {
  management* const manager = sender(c).server.manager();
  placement::node_placement* const nodes = sender(c).server.nodes();
  const bool is_set = c.count() == 5 && equals_folded(c[2], "set");
  if (is_set && nodes && equals_folded(c[3], kFastMemory)) return set_fast_memory(c, *nodes, c[4]);
  if (!manager && (is_set || !nodes)) return refuse_unmanaged(c);
  if (is_set) {
    const auto done = manager->configure(c[3], c[4]);
    return done ? c.out.ok() : c.out.error("ERR " + done.error().message);
  }
  if (c.count() != 2 && !(c.count() <= 4 && equals_folded(c[2], "get"))) {
    return c.out.error("ERR use ISOTHERM CONFIG [GET [pattern]] or ISOTHERM CONFIG SET name value");
  }
  const std::string_view pattern = c.count() == 4 ? c[3] : "*";
  std::vector<std::pair<std::string, std::string>> found;
  const auto add = [&](std::pair<std::string, std::string> each) {
    if (matches_glob(pattern, each.first, letter_case::any)) found.push_back(std::move(each));
  };
  if (manager) std::ranges::for_each(manager->configuration(), add);
  if (nodes) add({std::string(kFastMemory), to_text(nodes->size())});
  c.out.map(found.size());
  for (const auto& [name, value] : found) field(c.out, name, std::string_view(value));
}

/// ISOTHERM NODES: where the nodes of the index lie, and what was moved.
void nodes(call& c) {
  const placement::node_placement* const placed = sender(c).server.nodes();
  if (!placed) {
    return c.out.error(fmt::format(
        "ERR the index's nodes are not placed: start the server with --node-placement {}",
        fmt::join(placement::placement_names(), "|")));
  }
  const std::vector<placement::statistic> seen = placed->report();
  c.out.map(seen.size());
  for (const placement::statistic& each : seen) {
    std::visit([&](auto value) { field(c.out, each.name, value); }, each.value);
  }
}

void help(call& c) {
  static constexpr std::string_view kLines[] = {
      "ISOTHERM <subcommand> [<arg> ...]. Subcommands are:",
      "STATS",
      "    Return the index, the mode and what the last window of the collector saw.",
      "HEAPS",
      "    Return objects, bytes and resident bytes of NEW, HOT, COLD and NODE.",
      "PAGES",
      "    Return which pages of NEW, HOT and COLD are in DRAM: a digit a cell, 0 none to 9 all.",
      "NODES",
      "    Return how much of the index's nodes lies in fast memory, and what was moved.",
      "LOCATE <key> [<key> ...]",
      "    Return the address and the length of each key's value, or null.",
      "COLLECT",
      "    Run a window of the collector now and return what it saw.",
      "CONFIG [GET [<pattern>]]",
      "    Return the collector's parameters.",
      "CONFIG SET <name> <value>",
      "    Change one of them from the next window on.",
      "HELP",
      "    Prints this help."};
  c.out.statuses(kLines);
}

constexpr std::string_view kGroup = "isotherm";
constexpr std::string_view kSince = "0.1.0";
constexpr command kIsotherm[] = {
    {"stats", 2, 0, {}, stats, kGroup, kSince, "Statistics of the last window"},
    {"heaps", 2, 0, {}, heaps, kGroup, kSince, "Sizes of the heaps"},
    {"pages", 2, 0, {}, pages, kGroup, kSince, "Pages of the heaps in DRAM"},
    {"nodes", 2, 0, {}, nodes, kGroup, kSince, "Where the index's nodes lie"},
    {"locate",
     -3,
     kReadOnly | kLocates,
     {2, -1, 1},
     locate,
     kGroup,
     kSince,
     "Where the values of keys lie in memory"},
    {"collect", 2, kAdmin, {}, collect, kGroup, kSince, "Run a window now"},
    {"config", -2, kAdmin, {}, config, kGroup, kSince, "Read or change the collector's parameters"},
    {"help", 2, 0, {}, help, kGroup, kSince, "Show helpful text about the subcommands"},
};
constexpr command kCommands[] = {
    {"isotherm",
     -2,
     0,
     {},
     nullptr,
     kGroup,
     kSince,
     "A container for the collector's commands",
     kIsotherm},
};

}  // namespace

std::span<const command> isotherm_commands() { return kCommands; }

}  // namespace isotherm::server
