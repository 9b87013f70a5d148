// isotherm gensort and isotherm valsort: benchmark records and their check.
#include <fmt/format.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "cli/choice.hpp"
#include "cli/commands.hpp"
#include "cli/report_file.hpp"
#include "cli/signals.hpp"
#include "device/io.hpp"
#include "device/spool.hpp"
#include "harness/gensort.hpp"
#include "harness/valsort.hpp"

namespace isotherm::cli {
namespace {

struct gensort_arguments {
  harness::gensort_options options;
  std::string path;
  bool checksum = false, progress = false;
};

struct valsort_arguments {
  harness::valsort_options options;
  std::string path, summary, expected;
  bool quiet = false, summaries = false, progress = false;
};

/// Counts up on a terminal, in one line that the last call clears; elsewhere a line each tenth.
harness::record_progress show_progress(bool asked, std::string_view what) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (!terminal && !asked) return {};
  const std::uint64_t step = terminal ? 1 : 10;
  return [=, last = std::uint64_t{0}](std::uint64_t done, std::uint64_t total) mutable {
    const std::uint64_t percent = done * 100 / total / step * step;
    if (percent == last) return;
    last = percent;
    std::string line = "\r\033[K";
    if (!terminal) {
      line = fmt::format("{} {}%\n", what, percent);
    } else if (done != total) {
      line = fmt::format("\r{} {}%", what, percent);
    }
    std::fputs(line.c_str(), stderr);  // nobody may be there to read it, which is no error
  };
}

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(base::system_error("cannot read " + path, errno).message);
  return {std::istreambuf_iterator<char>(in), {}};
}

harness::valsort_summary summarise(const valsort_arguments& a) {
  if (!a.summaries) {
    auto s = harness::valsort_file(a.path, a.options);
    if (!s) fail(s.error().message);
    return *s;
  }
  auto parts = harness::parse_summaries(read_all(a.path));
  if (!parts) fail(a.path + ": " + parts.error().message);
  harness::valsort_summary total;
  for (const auto& part : *parts) total = harness::combine(total, part, a.options.ignore_case);
  return total;
}

void run_gensort(gensort_arguments& a) {
  a.path = device::spelled_out(a.path, STDOUT_FILENO);
  a.options.progress = show_progress(a.progress, "generating");
  a.options.interrupt = &catch_signals();
  auto sum = harness::gensort_file(a.path, a.options);
  if (!sum) {
    fmt::print(stderr, "isotherm: {}\n", sum.error().message);
    throw CLI::RuntimeError(sum.error().code == EINTR ? kInterrupted : 1);
  }
  if (a.checksum) fmt::print(stderr, "{}\n", harness::checksum_text(*sum));
}

void run_valsort(valsort_arguments& a) {
  a.path = device::spelled_out(a.path, STDIN_FILENO);
  if (!a.summary.empty() && device::same_file(a.summary, a.path)) {
    fail("-o " + a.summary + " would replace " + a.path + ": name another file for the summary");
  }
  base::result<harness::uint128> expected = harness::uint128{0};
  if (!a.expected.empty()) expected = harness::parse_checksum(a.expected);
  if (!expected) fail("--expect: " + expected.error().message);
  report_file summary(a.summary);
  a.options.progress = show_progress(a.progress, "checking");
  const auto s = summarise(a);
  summary.write(harness::summary_text(s), "checked");
  if (!a.quiet) {
    if (s.unordered > 0)
      fmt::print(stderr, "First unordered record is record {}\n", s.first_unordered);
    fmt::print(stderr, "Records: {}\nChecksum: {}\n", s.records,
               harness::checksum_text(s.checksum));
    if (s.unordered == 0) {
      fmt::print(stderr, "Duplicate keys: {}\nSUCCESS - all records are in order\n", s.duplicates);
    } else {
      fmt::print(stderr, "ERROR - there are {} unordered records\n", s.unordered);
    }
  }
  if (!a.expected.empty() && *expected != s.checksum) {
    fail(fmt::format("the checksum is {}, not the expected {}: these are not the same records",
                     harness::checksum_text(s.checksum), a.expected));
  }
  if (s.unordered > 0) throw CLI::RuntimeError(1);
}

}  // namespace

void add_gensort(CLI::App& app) {
  auto a = std::make_shared<gensort_arguments>();
  a->options.threads = std::max(1u, std::thread::hardware_concurrency());
  auto* c = app.add_subcommand(
      "gensort", "Make records of the sort benchmark: those of gensort 1.5, but with -s");
  c->add_option("count", a->options.count, "number of records")->required()->check(whole_number(0));
  c->add_option("file", a->path, "file to write, - for standard output")->required();
  c->add_flag("-a", a->options.ascii, "printable records");
  c->add_option("-b", a->options.first, "number of the first record")->check(whole_number(0));
  c->add_flag("-c", a->checksum, "print the checksum of the records on standard error");
  c->add_flag("-s", a->options.skewed,
              "repeat keys: rank r has weight about 1/r (not the distribution of gensort 1.5)");
  c->add_option("-t", a->options.threads, "threads")->check(whole_number(1, harness::kMostThreads));
  c->add_flag("--progress", a->progress, "show it even when standard error is no terminal");
  c->callback([a] { run_gensort(*a); });
}

void add_valsort(CLI::App& app) {
  auto a = std::make_shared<valsort_arguments>();
  a->options.threads = std::max(1u, std::thread::hardware_concurrency());
  auto* c = app.add_subcommand("valsort", "Check that benchmark records are in order");
  c->add_option("file", a->path, "file to check, - for standard input")->required();
  c->add_flag("-i", a->options.ignore_case, "ignore the case of keys");
  c->add_flag("-q", a->quiet, "print nothing, tell by the exit status");
  c->add_option("-o", a->summary, "write a summary of this part to a file");
  c->add_flag("-s", a->summaries, "the file holds summaries of parts, in order");
  c->add_option("-t", a->options.threads, "threads")->check(whole_number(1, harness::kMostThreads));
  c->add_flag("--progress", a->progress, "show it even when standard error is no terminal");
  c->add_option("--expect", a->expected, "checksum that the records must have");
  c->callback([a] { run_valsort(*a); });
}

}  // namespace isotherm::cli
