// isotherm bench tlb: reads the flags, runs, reports.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/report_file.hpp"
#include "lab/bench/report.hpp"
#include "lab/tlb/report.hpp"
#include "tool/origin.hpp"
#include "tool/progress.hpp"

namespace isotherm::cli {
namespace {

using lab::tlb_options;

base::result<void> read_size(const std::string& text, std::uint64_t& bytes) {
  const auto read = base::parse_bytes(text);
  if (!read) return std::unexpected(base::error{"'" + text + "' is no size, as 512mb is"});
  bytes = *read;
  return {};
}

void add_flags(command c, tlb_options& o) {
  c.add(
       "--size", [&o](const std::string& text) { return read_size(text, o.region_bytes); },
       base::format_bytes(o.region_bytes),
       "bytes of the region that holds the objects, 2mb to 128gb; each of --pages has one")
      .value_name("SIZE");
  c.add("--object", o.object_bytes, "bytes of an object, a multiple of 64");
  c.add("--hot", o.hot, "share of the objects that are hot, in per cent");
  c.add("--pages", o.pages, "4k, 2m (transparent huge pages, by madvise)");
  c.add("--access", o.access,
        "dependent (each object names the next) or independent (addresses are known before)");
  constexpr std::uint64_t kMostAccesses = 1'000'000'000'000;
  c.add("--accesses", o.accesses, "least number of accesses in a sample; samples are whole passes",
        std::uint64_t{1}, kMostAccesses);
  c.add("--rounds", o.rounds, "samples of each row, in an order that is drawn in each round", 1U,
        100'000U);
  c.add("--seed", o.seed, "of the hot objects and of all orders (default: another one, printed)");
  c.add("--json", o.json, "append one JSON object to FILE; - prints it");
}

constexpr const char* kFooter =
    "An access reads one cache line of a hot object. The hot objects are used in random order, "
    "all\n"
    "of them once in a pass; one untimed pass goes before each sample. ns is the time of an "
    "access,\n"
    "median, least and most of the rounds; speedup is that of the scattered hot set in pages of\n"
    "4 KiB over the row's, median of the rounds; touched counts the pages that hold a hot line;\n"
    "misses are the processor's of reads in the data TLB, an access, where the system counts "
    "them.\n"
    "The model's figures are computed. docs/benchmarks/tlb.md has figures and limits.";

void run(const tlb_options& asked) {
  const auto plan = lab::understand(asked);
  if (!plan) refuse_words(plan.error().message);
  check_appendable("--json", asked.json);
  const auto found =
      lab::run_tlb(*plan, tool::show_progress(tool::shown::on_terminal, "measuring"));
  if (!found) fail(found.error().message);
  if (asked.json != "-") fmt::print("{}", lab::to_text(*plan, *found));
  if (asked.json.empty()) return;
  require(lab::append_line(asked.json, tool::text_of(lab::to_json(*plan, *found))));
}

}  // namespace

void add_tlb(command root) {
  const command c = bench_of(root).subcommand(
      "tlb", "accesses to scattered and to clustered hot objects, in small and in huge pages");
  auto options = std::make_shared<tlb_options>();
  add_flags(c, *options);
  c.footer(kFooter);
  c.action([options] { run(*options); });
}

}  // namespace isotherm::cli
