// isotherm gensort: makes the records of the sort benchmark.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/signals.hpp"
#include "lab/records/gensort.hpp"
#include "os/files/spool.hpp"
#include "os/limits/processors.hpp"

namespace isotherm::cli {
namespace {

struct arguments {
  lab::gensort_options options;
  std::string path;
  bool checksum = false, progress = false;
};

void run(arguments& a) {
  a.path = os::spelled_out(a.path, STDOUT_FILENO);
  a.options.progress = tool::show_progress(
      a.progress ? tool::shown::always : tool::shown::on_terminal, "generating");
  a.options.stop = catch_signals();
  auto sum = lab::gensort_file(a.path, a.options);
  if (!sum) fail(sum.error().message, sum.error().code == EINTR ? kInterrupted : 1);
  if (a.checksum) fmt::print(stderr, "{}\n", lab::checksum_text(*sum));
}

}  // namespace

void add_gensort(command root) {
  auto a = std::make_shared<arguments>();
  a->options.threads = os::available_processors();
  const command c = root.subcommand(
      "gensort", "Make records of the sort benchmark: those of gensort 1.5, but with -s");
  c.add("count", a->options.count, "number of records").required().hide_default();
  c.add("file", a->path, "file to write, - for standard output").required();
  c.add_switch("-a", a->options.ascii, "printable records");
  c.add("-b", a->options.first, "number of the first record");
  c.add_switch("-c", a->checksum, "print the checksum of the records on standard error");
  c.add_switch("-s", a->options.skewed,
               "repeat keys: rank r has weight about 1/r (not the distribution of gensort 1.5)");
  c.add("-t", a->options.threads, "threads", 1u, lab::kMostThreads);
  c.add_switch("--progress", a->progress, "show it even when standard error is no terminal");
  c.action([a] { run(*a); });
}

}  // namespace isotherm::cli
