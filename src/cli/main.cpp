// The tool: parses the command line and runs the subcommand that it names.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "os/files/standard_descriptors.hpp"

namespace isotherm::cli {
namespace {

constexpr int kUsage = 2;  // exit status of a mistake in the command line

/// What the command printed must have gone somewhere: a script that reads it trusts the status.
void finish_output() {
  const bool failed = std::ferror(stdout) != 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (failed || !flushed) {
    fail(base::system_error("the command ended well, but not all of its output could be written",
                            errno)
             .message);
  }
}

/// One line, as of every other mistake.
std::string tell_mistake(const CLI::App*, const CLI::Error& mistake) {
  return "isotherm: " + std::string(mistake.what()) + "; see --help\n";
}

int run(int argc, char** argv) {
  os::take_standard_descriptors();
  CLI::App app("Isotherm: data organised so that every memory page holds bytes of one temperature",
               "isotherm");
  app.require_subcommand(1);
  app.set_version_flag("--version", ISOTHERM_VERSION);
  app.failure_message(tell_mistake);
  add_bench(app);
  add_serve(app);
  add_device(app);
  add_sort(app);
  add_gensort(app);
  add_valsort(app);
  add_report(app);
  add_top(app);
  try {
    app.parse(argc, argv);
    finish_output();
  } catch (const CLI::RuntimeError& failed) {
    return failed.get_exit_code();
  } catch (const CLI::Error& ended) {
    return app.exit(ended) == 0 ? 0 : kUsage;
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
