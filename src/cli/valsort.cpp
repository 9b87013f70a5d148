// isotherm valsort: checks that benchmark records are in order.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/report_file.hpp"
#include "lab/records/valsort.hpp"
#include "os/files/paths.hpp"
#include "os/files/spool.hpp"

namespace isotherm::cli {
namespace {

struct arguments {
  lab::valsort_options options;
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

void run(arguments& a) {
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

}  // namespace

void add_valsort(command root) {
  auto a = std::make_shared<arguments>();
  a->options.threads = std::max(1u, std::thread::hardware_concurrency());
  const command c = root.subcommand("valsort", "Check that benchmark records are in order");
  c.add("file", a->path, "file to check, - for standard input").required();
  c.add_switch("-i", a->options.ignore_case, "ignore the case of keys");
  c.add_switch("-q", a->quiet, "print nothing, tell by the exit status");
  c.add("-o", a->summary, "write a summary of this part to a file");
  c.add_switch("-s", a->summaries, "the file holds summaries of parts, in order");
  c.add("-t", a->options.threads, "threads", 1u, lab::kMostThreads);
  c.add_switch("--progress", a->progress, "show it even when standard error is no terminal");
  c.add("--expect", a->expected, "checksum that the records must have");
  c.action([a] { run(*a); });
}

}  // namespace isotherm::cli
