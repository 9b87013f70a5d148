#include "cli/pages/arguments.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/numbers.hpp"

namespace isotherm::cli {
namespace {

/// "10s" is seconds, "1000000" accesses.
base::result<void> set_limit(pages::window_limit& limit, const std::string& text) {
  std::string_view number = text;
  limit = {};
  if (number.ends_with('s')) {
    number.remove_suffix(1);
    limit.seconds = base::parse_number<double>(number, 0.001, 1e9);
  } else {
    limit.accesses = base::parse_number<std::uint64_t>(number, 1);
  }
  if (limit.seconds || limit.accesses) return {};
  return std::unexpected(base::error{
      "'" + text + "' is no length of a window: give seconds, as 10s, or accesses, as 1000000"});
}

base::result<void> set_count(std::optional<std::uint64_t>& count, const std::string& text) {
  count = base::parse_number<std::uint64_t>(text, 1);
  if (count) return {};
  return std::unexpected(base::error{"'" + text + "' is no number of windows: give 1 or more"});
}

}  // namespace

void add_pages_flags(const command& c, pages_arguments& a) {
  c.add_words("program", a.program, "the program to run and observe, and its arguments, after --")
      .value_name("WORD");
  const option buffers =
      c.add_switch("--syscalls", a.counts_buffers,
                   "count buffers of the program that system calls (read, write, send and their "
                   "variants) read or wrote as used");
  const option objects = c.add_switch(
      "--objects", a.traces_objects,
      "trace what the program allocates (malloc, new and their kin), and report by object size and "
      "allocation site what it would hold if its objects were ordered by temperature");
  c.add("--trace", a.trace,
        "read a trace of memory accesses in place of running a program: output of valgrind "
        "--tool=lackey --trace-mem=yes, or of drmemtrace's tool view; -: standard input")
      .excludes(buffers)
      .excludes(objects);
  c.add("--pid", a.pid,
        "observe the process of this number, which runs already, by the kernel's page bits: "
        "how much of its memory was used in a window, in whole pages",
        1, std::numeric_limits<int>::max())
      .value_name("PID")
      .hide_default()
      .excludes(buffers)
      .excludes(objects);
  const auto limit = [](pages::window_limit& target) {
    return [&target](const std::string& text) { return set_limit(target, text); };
  };
  c.group("Windows");
  c.add("--skip", limit(a.times.skip), "",
        "length of the time before the first window, as 10s or as a number of accesses");
  c.add("--window", limit(a.times.length), "",
        "length of each window, as 10s or as a number of accesses; without it one window lasts "
        "until the end");
  c.add(
      "--windows", [&a](const std::string& text) { return set_count(a.times.windows, text); }, "",
      "number of windows after which the observation ends, and the program");
  c.group("Results");
  c.add("--json", a.json,
        "write all figures of all windows, as JSON, to this file; -: standard "
        "output");
  c.add("--picture", a.picture,
        "draw the share of touched pages over the share of their bytes that was used, as SVG, in "
        "this file");
  c.add("--heat-map", a.heat_map,
        "draw the share that was used of each piece of the largest mappings, window by window, as "
        "SVG, in this file");
  c.add_switch("--progress", a.progress,
               "print a line for each window that ends even when standard error is no terminal");
}

}  // namespace isotherm::cli
