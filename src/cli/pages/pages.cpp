// isotherm pages: observes which bytes of its pages a program uses.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/pages/arguments.hpp"
#include "cli/pages/result_files.hpp"
#include "cli/signals.hpp"
#include "pages/live/live_source.hpp"
#include "pages/qemu/qemu_source.hpp"
#include "pages/report/text.hpp"
#include "pages/trace/trace_source.hpp"

namespace isotherm::cli {
namespace {

constexpr const char* kFooter =
    "isotherm pages -- redis-server --port 7000          run the program and observe it\n"
    "isotherm pages --window 10s -- PROGRAM ARGUMENTS    a row of figures every 10 s\n"
    "isotherm pages --objects -- PROGRAM ARGUMENTS       what moving its objects would save\n"
    "isotherm pages --pid 4711 --window 60s --windows 1  a process that runs already\n"
    "valgrind --tool=lackey --trace-mem=yes --log-fd=9 PROGRAM 9>&1 >/dev/null |\n"
    "  isotherm pages --trace -                          read another tool's trace\n"
    "The signal SIGUSR1 to the tool ends a window and begins the next one; Ctrl-C ends the\n"
    "observation with its report. docs/seeing/pages.md explains the figures.";

base::atomic<std::uint64_t> cuts_asked;

void on_cut(int) { cuts_asked.fetch_add_relaxed(1); }

void catch_cuts() {
  struct sigaction action = {};
  action.sa_handler = on_cut;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, nullptr);
}

using progress = std::function<void(double, std::uint64_t)>;

/// On a terminal, a line that counts up.
progress show_progress() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [last = std::chrono::steady_clock::time_point()](double seconds,
                                                          std::uint64_t accesses) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::milliseconds(100)) return;
    last = now;
    fmt::print(stderr, "\r\033[K{:.1f} s, {} accesses\r", seconds, accesses);
  };
}

/// A line for each window that has ended.
std::function<void(const pages::window_report&)> show_windows(const pages_arguments& a,
                                                              pages::grain smallest) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (!terminal && !a.progress) return {};
  return [=, number = 0](const pages::window_report& w) mutable {
    fmt::print(stderr, "{}window {}: {}\n", terminal ? "\r\033[K" : "", ++number,
               pages::to_line(w, smallest));
  };
}

/// The signals that catch_signals() makes the tool ignore; the program is to have their defaults,
/// unless the tool itself was started to ignore them.
std::vector<int> signals_at_default() {
  std::vector<int> all;
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    struct sigaction now = {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_DFL) all.push_back(signal);
  }
  return all;
}

void check_words(const pages_arguments& a) {
  const int named = !a.program.empty() + !a.trace.empty() + (a.pid != 0);
  if (named != 1) refuse_words("name one of: a program after --, --pid PID, or --trace FILE");
  if (a.pid != 0 && !(a.picture.empty() && a.heat_map.empty())) {
    refuse_words(
        "--picture and --heat-map draw used bytes, and --pid sees whole pages: run the "
        "program under observation, isotherm pages -- PROGRAM");
  }
}

std::unique_ptr<pages::source> open_source(const pages_arguments& a, const std::stop_token& stop,
                                           const std::vector<int>& default_signals) {
  if (a.pid != 0) {
    auto process = pages::live_source::open(a.pid);
    if (!process) fail(process.error().message);
    return std::make_unique<pages::live_source>(std::move(*process));
  }
  if (!a.program.empty()) {
    auto program = pages::qemu_source::start({.program = a.program,
                                              .counts_buffers = a.counts_buffers,
                                              .traces_objects = a.traces_objects,
                                              .default_signals = default_signals});
    if (!program) fail(program.error().message);
    return std::move(*program);
  }
  auto trace = pages::trace_source::open(a.trace, stop);
  if (!trace) fail(trace.error().message);
  return std::make_unique<pages::trace_source>(std::move(*trace));
}

void run(pages_arguments& a) {
  check_words(a);
  const std::vector<int> default_signals = signals_at_default();
  const std::stop_token stop = catch_signals();
  catch_cuts();
  result_files results(a);
  const auto source = open_source(a, stop, default_signals);
  auto seen = pages::observe(*source, a.times,
                             {.stop = stop, .cuts = &cuts_asked, .progress = show_progress()},
                             show_windows(a, source->traits().smallest));
  if (!seen) fail(seen.error().message);
  // The program's own output goes to standard output.
  std::FILE* const out = a.program.empty() && a.json != "-" ? stdout : stderr;
  fmt::print(out, "{}", pages::to_text(*seen));
  results.write(*seen);
  if (seen->exit_status != 0) throw ended{seen->exit_status};
}

}  // namespace

void add_pages(command root) {
  auto a = std::make_shared<pages_arguments>();
  const command c =
      root.subcommand("pages", "how much of its memory any program uses, and how much could leave");
  add_pages_flags(c, *a);
  c.footer(kFooter);
  c.action([a] { run(*a); });
}

}  // namespace isotherm::cli
