#include "cli/fail.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

namespace isotherm::cli {

namespace {

[[noreturn]] void end(const std::string& line, int status) {
  fmt::print(stderr, "isotherm: {}\n", line);
  throw CLI::RuntimeError(status);
}

}  // namespace

void fail(const std::string& line) { end(line, 1); }

void refuse_words(const std::string& line) { end(line, 2); }

void require(const base::result<void>& done) {
  if (!done) fail(done.error().message);
}

}  // namespace isotherm::cli
