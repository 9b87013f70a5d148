// The tool: one subcommand a file, this one only calls them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/commands.hpp"

/// jemalloc's settings, which MALLOC_CONF in the environment goes over. Slabs of 128 KiB where
/// records live: an arena keeps what describes a slab for ever, and with the default of 20 KiB for
/// records of 1 KiB that is as much as a hundredth of the greatest heap.
extern "C" const char* malloc_conf;
const char* malloc_conf = "slab_sizes:513-4096:32";

namespace isotherm::cli {

void fail(const std::string& line) {
  fmt::print(stderr, "isotherm: {}\n", line);
  throw CLI::RuntimeError(1);
}

namespace {

int run(int argc, char** argv) {
  CLI::App app("Isotherm: data organised so that every memory page holds bytes of one temperature",
               "isotherm");
  app.require_subcommand(1);
  add_bench(app);
  add_serve(app);
  add_device(app);
  add_sort(app);
  add_gensort(app);
  add_valsort(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Error& ended) {
    return app.exit(ended);
  }
  return 0;
}

}  // namespace
}  // namespace isotherm::cli

int main(int argc, char** argv) {
  try {
    return isotherm::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("isotherm: out of memory\n", stderr);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "isotherm: %s\n", problem.what());
  }
  return 1;
}
