// isotherm sort: options, signals and output of isotherm::sort_file().
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>
#include <isotherm/sort.hpp>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/report_file.hpp"
#include "cli/signals.hpp"
#include "cli/sort/arguments.hpp"
#include "cli/sort/progress.hpp"
#include "cli/sort/splitting.hpp"
#include "cli/sort/text.hpp"
#include "os/files/paths.hpp"
#include "os/files/pending_file.hpp"
#include "os/files/spool.hpp"

namespace isotherm::cli {
namespace {

/// A mapped input that was cut, or whose device failed: the page that was asked for is not there.
/// Nothing remains: an incomplete output has no name, or one that is taken back here.
void on_lost_page(int) {
  os::remove_incomplete_files();
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

/// Reports and other outputs must not take the place of what the command reads or makes.
void check_report(const sort_arguments& a) {
  if (a.json.empty() || a.json == "-") return;
  std::vector<std::string> files = a.inputs;
  files.insert(files.end(), {a.output, a.options.device});
  for (const std::string& file : files) {
    if (!file.empty() && os::same_file(a.json, file)) {
      fail("--json " + a.json + " would replace " + file + ": name another file for the report");
    }
  }
}

void explain(const sort_arguments& a) {
  if (a.inputs.size() > 1) refuse_words("--explain: name one input");
  auto all = explain_sort(a.inputs.front(), a.options);
  if (!all) fail(all.error().message);
  for (const auto& p : *all) fmt::print("{}", to_text(p));
}

/// Says where the input is out of order, and ends with status 1 then.
void check_order(const sort_arguments& a) {
  const std::string_view flag = a.check_silently ? "-C" : "-c";
  if (a.inputs.size() > 1) refuse_words(fmt::format("{}: name one input", flag));
  if (a.output != "-") refuse_words(fmt::format("{} writes nothing: leave out -o", flag));
  const auto found = find_disorder(a.inputs.front(), a.options);
  if (!found) fail(found.error().message, found.error().code == EINTR ? kInterrupted : 2);
  const std::optional<disorder>& first = *found;
  if (!first) return;
  if (a.check_silently) throw ended{1};
  const auto& [number, record] = *first;
  if (a.options.format != record_format::lines) {
    fail(fmt::format("{}: disorder: record {}", a.inputs.front(), number));
  }
  std::string_view text(reinterpret_cast<const char*>(record.data()), record.size());
  if (text.ends_with(a.options.line_end)) text.remove_suffix(1);
  if (a.options.csv) text = text.substr(0, text.find_first_of("\r\n"));  // the first line of a row
  fail(fmt::format("{}:{}: disorder: {}", a.inputs.front(), number, text));
}

/// Writes the report of what was done, where it is asked for or a person looks.
template <class Report>
void tell(const sort_arguments& a, bool to_file, report_file& json,
          const base::result<Report>& report) {
  if (!report && report.error().code == EPIPE) end_as_by_closed_pipe();
  if (!report) fail(report.error().message, report.error().code == EINTR ? kInterrupted : 1);
  if (a.json == "-") {
    fmt::print("{}", to_json(*report));
  } else if (!a.json.empty()) {
    json.write(to_json(*report), "sorted");
  } else if (to_file && (::isatty(STDOUT_FILENO) != 0 || !a.options.device.empty())) {
    fmt::print("{}", to_text(*report));
  }
}

void run(sort_arguments& a, const splitting& split) {
  auto& o = a.options;
  understand(a);
  check(split, a);
  if (a.explain) return explain(a);
  if (!a.check.empty() || a.check_silently) {
    o.stop = catch_signals();
    return check_order(a);
  }
  for (std::string& input : a.inputs) input = os::spelled_out(input, STDIN_FILENO);
  a.output = os::spelled_out(a.output, STDOUT_FILENO);
  const bool to_file = !os::named_descriptor(a.output);
  if (!to_file && a.json == "-") fail("--json -: standard output has the records; name a file");
  check_report(a);
  report_file json(a.json == "-" ? "" : a.json);
  o.stop = catch_signals();
  catch_lost_pages();
  sort_progress printer;
  if (a.progress || ::isatty(STDERR_FILENO) != 0) o.progress = std::ref(printer);
  if (split.asked()) {
    const auto report = split_or_sample(split, a);
    printer.finish();
    return tell(a, to_file, json, report);
  }
  const auto report = sort_files(a.inputs, a.output, o);
  printer.finish();
  tell(a, to_file, json, report);
}

}  // namespace

void add_sort(command root) {
  auto a = std::make_shared<sort_arguments>();
  auto split = std::make_shared<splitting>();
  const command c =
      root.subcommand("sort", "Sort files larger than memory by moving keys, not records");
  add_sort_arguments(c, *a);
  add_splitting(c, *split);
  c.action([a, split] { run(*a, *split); });
}

}  // namespace isotherm::cli
