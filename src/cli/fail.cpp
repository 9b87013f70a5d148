#include "cli/fail.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

namespace isotherm::cli {

void fail(const std::string& line) {
  fmt::print(stderr, "isotherm: {}\n", line);
  throw CLI::RuntimeError(1);
}

void require(const base::result<void>& done) {
  if (!done) fail(done.error().message);
}

}  // namespace isotherm::cli
