// isotherm sort: options, signals and output of isotherm::sort_file().
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>
#include <isotherm/sort.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>

#include "cli/choice.hpp"
#include "cli/commands.hpp"
#include "cli/report_file.hpp"
#include "cli/signals.hpp"
#include "cli/sort_text.hpp"
#include "device/io.hpp"
#include "device/pending_file.hpp"
#include "device/spool.hpp"

namespace isotherm::cli {
namespace {

/// A mapped input that was cut, or whose device failed: the page that was asked for is not there.
/// Nothing remains: an incomplete output has no name, or one that is taken back here.
void on_lost_page(int) {
  device::remove_incomplete_files();
  constexpr std::string_view kLine =
      "isotherm: the input could not be read to its end: it was cut while it was sorted, or its "
      "device failed; nothing was written\n";
  const ssize_t ignored = ::write(STDERR_FILENO, kLine.data(), kLine.size());
  ::_exit(ignored < 0 ? 2 : 1);
}

void catch_lost_pages() {
  struct sigaction action = {};
  action.sa_handler = on_lost_page;
  ::sigaction(SIGBUS, &action, nullptr);
}

struct arguments {
  sort_options options;
  std::string input, output, memory, separator = "\t", json;
  bool klv = false, lines = false, progress = false, explain = false;
};

/// One line for each stage that is new. On a terminal the line says the stage of the moment, and
/// counts up; a stage that comes once more overwrites it.
class progress_printer {
 public:
  void operator()(sort_stage stage, std::uint64_t done, std::uint64_t total) {
    const unsigned bit = 1u << static_cast<unsigned>(stage);
    const bool fresh = (seen_ & bit) == 0;
    seen_ |= bit;
    std::string text(name(stage));
    if (!terminal_) {
      if (fresh) show(text + '\n');
      return;
    }
    if (total > 0) {
      const double part = static_cast<double>(done) / static_cast<double>(total);
      text += fmt::format(" {:.0f}%", std::floor(100 * std::min(1.0, part)));
    } else if (shown_.starts_with(text)) {
      return;  // its next percentage will do
    }
    if (!fresh && text == shown_) return;
    show((fresh && !shown_.empty() ? "\n" : "\r\033[K") + text);
    shown_ = std::move(text);
  }
  /// Ends the line.
  void finish() {
    if (!shown_.empty()) show("\n");
    shown_.clear();
  }

 private:
  /// Nobody may be there to read it: that is no error of the sort.
  static void show(const std::string& text) { std::fputs(text.c_str(), stderr); }

  const bool terminal_ = ::isatty(STDERR_FILENO) != 0;
  unsigned seen_ = 0;
  std::string shown_;  // the line on the terminal
};

/// Reports and other outputs must not take the place of what the command reads or makes.
void check_report(const arguments& a) {
  if (a.json.empty() || a.json == "-") return;
  for (const std::string& file : {a.input, a.output, a.options.device}) {
    if (!file.empty() && device::same_file(a.json, file)) {
      fail("--json " + a.json + " would replace " + file + ": name another file for the report");
    }
  }
}

void explain(const arguments& a) {
  auto all = explain_sort(a.input, a.options);
  if (!all) fail(all.error().message);
  for (const auto& p : *all) {
    if (p.obstacle.empty()) {
      const bool taken = p.taken != p.algorithm;
      fmt::print("{:<14} {:10.3f} s{}{}{}{}\n", name(p.algorithm), p.seconds,
                 taken ? "  takes " : "", taken ? name(p.taken) : "", p.runs.empty() ? "" : "  ",
                 p.runs);
    } else {
      fmt::print("{:<14} not here: {}\n", name(p.algorithm), p.obstacle);
    }
  }
}

void run(arguments& a) {
  auto& o = a.options;
  if (a.klv) o.format = record_format::klv;
  if (a.lines) o.format = record_format::lines;
  if (!a.memory.empty()) o.memory_bytes = parse_size(a.memory);
  if (!a.memory.empty() && o.memory_bytes == 0) fail("--memory 0 is too little: 32M will do");
  if (!o.temporary_directory.empty()) {
    if (auto r = device::check_writable(o.temporary_directory); !r)
      fail("--tmp: " + r.error().message);
  }
  if (a.separator.size() != 1) fail("-t: give one character between fields");
  o.separator = a.separator[0];
  if (a.explain) return explain(a);
  if (a.output.empty()) fail("name the output: isotherm sort IN OUT");
  a.input = device::spelled_out(a.input, STDIN_FILENO);
  a.output = device::spelled_out(a.output, STDOUT_FILENO);
  const bool to_file = !device::named_descriptor(a.output);
  if (!to_file && a.json == "-") fail("--json -: standard output has the records; name a file");
  check_report(a);
  report_file json(a.json == "-" ? "" : a.json);
  o.interrupt = &catch_signals();
  catch_lost_pages();
  progress_printer printer;
  if (a.progress || ::isatty(STDERR_FILENO) != 0) o.progress = std::ref(printer);
  auto report = sort_file(a.input, a.output, o);
  printer.finish();
  if (!report) {
    fmt::print(stderr, "isotherm: {}\n", report.error().message);
    throw CLI::RuntimeError(report.error().code == EINTR ? kInterrupted : 1);
  }
  if (a.json == "-") {
    fmt::print("{}", to_json(*report));
  } else if (!a.json.empty()) {
    json.write(to_json(*report), "sorted");
  } else if (to_file && (::isatty(STDOUT_FILENO) != 0 || !o.device.empty())) {
    fmt::print("{}", to_text(*report));
  }
}

void add_format_options(CLI::App& c, arguments& a) {
  auto& o = a.options;
  auto* record =
      c.add_option("--record", o.record_bytes, "bytes of a record")->capture_default_str();
  auto* key = c.add_option("--key-size", o.key_bytes, "bytes of the key")->capture_default_str();
  auto* offset = c.add_option("--key-offset", o.key_offset, "where the key begins in the record");
  auto* klv = c.add_flag("--klv", a.klv, "records are key, 4-byte little-endian length, value");
  auto* lines = c.add_flag("--lines", a.lines, "records are lines, ordered as LC_ALL=C sort does");
  klv->excludes(lines)->excludes(record)->excludes(offset);
  lines->excludes(record)->excludes(key)->excludes(offset);
  c.add_option("-t,--separator", a.separator, "lines: character between fields; a tab if not given")
      ->needs(lines);
  c.add_option("-k,--field", o.field, "lines: the key is this field (from 1) and all behind it")
      ->check(whole_number(1, std::numeric_limits<unsigned>::max()))
      ->needs(lines);
  c.add_flag("-r,--reverse", o.reverse, "largest key first");
  c.add_flag("-s,--stable", o.stable, "equal keys keep their order (records always do)");
  c.add_flag("-u,--unique", o.unique, "of equal keys keep the first");
  c.add_option("--top", o.top, "write only the first N records of the order")
      ->check(whole_number(1));
  c.add_flag("--count", o.count,
             "write each key once with the number of its records: key and 8-byte little-endian "
             "count; for lines count, tab, key");
}

}  // namespace

void add_sort(CLI::App& app) {
  auto a = std::make_shared<arguments>();
  auto& o = a->options;
  auto* c =
      app.add_subcommand("sort", "Sort a file larger than memory by moving keys, not records");
  c->add_option("input", a->input, "file to sort, - for standard input")->required();
  c->add_option("output", a->output,
                "file to write, replaced only when the sort is complete; - for standard output");
  add_format_options(*c, *a);
  add_choice(*c, "--algorithm", o.algorithm, sort_algorithms(), "how to sort");
  add_choice(*c, "--concurrency", o.concurrency,
             {sort_concurrency::automatic, sort_concurrency::no_sync, sort_concurrency::io_overlap,
              sort_concurrency::no_io_overlap},
             "what may run beside what");
  add_choice(*c, "--compress", o.compression,
             {sort_compression::automatic, sort_compression::on, sort_compression::off},
             "whether runs of an index map are compressed; auto: on an emulated device, when it "
             "pays");
  c->add_option("--memory", a->memory,
                "limit of resident memory, such as 512M; half of what is "
                "available if not given");
  c->add_option("--tmp", o.temporary_directory, "directory for runs; the output's if not given");
  c->add_option("--device", o.device,
                "profile of `device probe`, or an emulated device: emu:pmem, "
                "emu:bd@1/8, ...");
  c->add_option("--read-threads", o.read_threads, "threads that read; the device decides");
  c->add_option("--write-threads", o.write_threads, "threads that write; the device decides");
  c->add_option("--sort-threads", o.sort_threads, "threads that sort");
  c->add_flag(
      "--no-fsync", [&o](std::int64_t) { o.durable = false; },
      "do not wait for the disk: after a crash of the system the output may be incomplete");
  c->add_flag(
      "--check", o.check,
      "read the output again, whether it is in order, and the input, whether the output "
      "holds its records (with --unique or --top the order, with --count the sum of counts)");
  auto* plans =
      c->add_flag("--explain", a->explain,
                  "print what each algorithm would take on an emulated device, and do not sort");
  c->add_option("--json", a->json, "write a report to this file, - for standard output")
      ->excludes(plans);
  c->add_flag("--progress", a->progress, "show the stages even when standard error is no terminal");
  c->callback([a] { run(*a); });
}

}  // namespace isotherm::cli
