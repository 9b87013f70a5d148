// The tool: reads the command line and runs the subcommand that it names.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/parser/command.hpp"
#include "os/files/standard_descriptors.hpp"

namespace isotherm::cli {
namespace {

/// Fails when output of the command was lost: a script that reads it trusts the status.
void finish_output() {
  const bool failed = std::ferror(stdout) != 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (failed || !flushed) {
    fail(base::system_error("the command ended well, but not all of its output could be written",
                            errno)
             .message);
  }
}

int run(int count, const char* const* words) {
  os::take_standard_descriptors();
  const program tool("isotherm",
                     "Isotherm: data organised so that every memory page holds bytes of one "
                     "temperature",
                     ISOTHERM_VERSION);
  for (const auto add : commands()) add(tool.root());
  const int status = tool.run(count, words);
  if (status == 0) finish_output();
  return status;
}

}  // namespace
}  // namespace isotherm::cli

int main(int argc, char** argv) {
  try {
    return isotherm::cli::run(argc, argv);
  } catch (const isotherm::cli::ended& done) {
    return done.status;
  } catch (const std::bad_alloc&) {
    std::fputs("isotherm: out of memory\n", stderr);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "isotherm: %s\n", problem.what());
  }
  return 1;
}
