#include "cli/fail.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace isotherm::cli {

void fail(const std::string& line, int status) {
  fmt::print(stderr, "isotherm: {}\n", line);
  throw ended{status};
}

void refuse_words(const std::string& line) { fail(line, 2); }

void require(const base::result<void>& done) {
  if (!done) fail(done.error().message);
}

}  // namespace isotherm::cli
