// isotherm valsort: checks that records are in order: those of the benchmark, as valsort 1.5 does,
// or others, as the sort would order them.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/report_file.hpp"
#include "cli/sort/arguments.hpp"
#include "lab/records/valsort.hpp"
#include "os/files/paths.hpp"
#include "os/files/spool.hpp"
#include "os/limits/processors.hpp"

namespace isotherm::cli {
namespace {

// Headings of the flags for either kind of records.
constexpr const char* kBenchmark = "Records of the sort benchmark, without the flags below";
constexpr const char* kOther = "Lines or other records, as sort would order them";

struct arguments {
  lab::valsort_options options;
  sort_arguments order;
  bool lines = false;
  std::string path, summary, expected;
  bool quiet = false, summaries = false, progress = false;
};

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(base::system_error("cannot read " + path, errno).message);
  return {std::istreambuf_iterator<char>(in), {}};
}

lab::valsort_summary summarise(const arguments& a) {
  if (!a.summaries) {
    auto s = lab::valsort_file(a.path, a.options);
    if (!s) fail(s.error().message);
    return *s;
  }
  auto parts = lab::parse_summaries(read_all(a.path));
  if (!parts) fail(a.path + ": " + parts.error().message);
  lab::valsort_summary total;
  for (const auto& part : *parts) total = lab::combine(total, part, a.options);
  return total;
}

/// Checks the order that the sort's flags describe.
void check_other_records(arguments& a) {
  understand_order(a.order);
  const auto found = find_disorder(a.path, a.order.options);
  if (!found) fail(found.error().message);
  if (!a.quiet && *found) {
    fmt::print(stderr,
               "First unordered record is record {}\nERROR - the records are not in order\n",
               (*found)->number - 1);
  } else if (!a.quiet) {
    fmt::print(stderr, "SUCCESS - all records are in order\n");
  }
  if (*found) throw ended{};
}

void check_benchmark_records(arguments& a) {
  a.path = os::spelled_out(a.path, STDIN_FILENO);
  if (!a.summary.empty() && os::same_file(a.summary, a.path)) {
    fail("-o " + a.summary + " would replace " + a.path + ": name another file for the summary");
  }
  base::result<lab::uint128> expected = lab::uint128{0};
  if (!a.expected.empty()) expected = lab::parse_checksum(a.expected);
  if (!expected) refuse_words("--expect: " + expected.error().message);
  report_file summary(a.summary);
  a.options.progress =
      tool::show_progress(a.progress ? tool::shown::always : tool::shown::on_terminal, "checking");
  const auto s = summarise(a);
  summary.write(lab::summary_text(s), "checked");
  if (!a.quiet) {
    if (s.unordered > 0)
      fmt::print(stderr, "First unordered record is record {}\n", s.first_unordered);
    fmt::print(stderr, "Records: {}\nChecksum: {}\n", s.records, lab::checksum_text(s.checksum));
    if (s.unordered == 0) {
      fmt::print(stderr, "Duplicate keys: {}\nSUCCESS - all records are in order\n", s.duplicates);
    } else {
      fmt::print(stderr, "ERROR - there are {} unordered records\n", s.unordered);
    }
  }
  if (!a.expected.empty() && *expected != s.checksum) {
    fail(fmt::format("the checksum is {}, not the expected {}: these are not the same records",
                     lab::checksum_text(s.checksum), a.expected));
  }
  if (s.unordered > 0) throw ended{};
}

void run(arguments& a, const command& c) {
  if (!c.was_given_under(kOther)) return check_benchmark_records(a);
  if (c.was_given_under(kBenchmark)) {
    refuse_words(
        "--expect, -o, --summaries, --threads and --any-case are for records of the "
        "benchmark: leave them out");
  }
  if (a.lines && (a.order.klv || a.order.record_bytes)) {
    refuse_words("--lines excludes --record and --klv");
  }
  check_other_records(a);
}

}  // namespace

void add_valsort(command root) {
  auto a = std::make_shared<arguments>();
  a->options.threads = os::available_processors();
  const command c = root.subcommand("valsort", "Check that records are in order");
  c.free_short_help();
  c.add("file", a->path, "file to check, - for standard input").required();
  c.add_switch("-q", a->quiet, "print nothing, tell by the exit status");
  c.add_switch("--progress", a->progress, "show it even when standard error is no terminal");
  c.group(kBenchmark);
  c.add_switch("--any-case", a->options.ignore_case, "ignore the case of keys");
  c.add("-o,--summary", a->summary, "write a summary of this part to a file");
  c.add_switch("--summaries", a->summaries, "the file holds summaries of parts, in order");
  c.add("--threads", a->options.threads, "threads", 1u, lab::kMostThreads);
  c.add("--expect", a->expected, "checksum that the records must have");
  c.group(kOther);
  c.add_switch("--lines", a->lines, "lines, also without a flag of their order");
  add_order(c, a->order);
  c.action([a, c] { run(*a, c); });
}

}  // namespace isotherm::cli
