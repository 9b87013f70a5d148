// The tool: one subcommand a file, this one only calls them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/commands.hpp"

namespace isotherm::cli {

void fail(const std::string& line) {
  fmt::print(stderr, "isotherm: {}\n", line);
  throw CLI::RuntimeError(1);
}

}  // namespace isotherm::cli

int main(int argc, char** argv) {
  CLI::App app("Isotherm: data organised so that every memory page holds bytes of one temperature",
               "isotherm");
  app.require_subcommand(1);
  isotherm::cli::add_bench(app);
  isotherm::cli::add_serve(app);
  isotherm::cli::add_device(app);
  isotherm::cli::add_sort(app);
  isotherm::cli::add_gensort(app);
  isotherm::cli::add_valsort(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Error& ended) {
    return app.exit(ended);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "isotherm: out of memory\n");
    return 1;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "isotherm: {}\n", problem.what());
    return 1;
  }
  return 0;
}
