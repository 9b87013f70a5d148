// isotherm gensort: makes the records of the sort benchmark.
#include <fmt/format.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <thread>

#include "cli/choice.hpp"
#include "cli/commands.hpp"
#include "cli/signals.hpp"
#include "harness/gensort.hpp"
#include "os/files/spool.hpp"

namespace isotherm::cli {
namespace {

struct arguments {
  harness::gensort_options options;
  std::string path;
  bool checksum = false, progress = false;
};

void run(arguments& a) {
  a.path = os::spelled_out(a.path, STDOUT_FILENO);
  a.options.progress = harness::show_progress(
      a.progress ? harness::shown::always : harness::shown::on_terminal, "generating");
  a.options.stop = catch_signals();
  auto sum = harness::gensort_file(a.path, a.options);
  if (!sum) {
    fmt::print(stderr, "isotherm: {}\n", sum.error().message);
    throw CLI::RuntimeError(sum.error().code == EINTR ? kInterrupted : 1);
  }
  if (a.checksum) fmt::print(stderr, "{}\n", harness::checksum_text(*sum));
}

}  // namespace

void add_gensort(CLI::App& app) {
  auto a = std::make_shared<arguments>();
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
  c->callback([a] { run(*a); });
}

}  // namespace isotherm::cli
