// How a command that cannot do its work ends.
#pragma once

#include <string>

#include "base/error.hpp"

namespace isotherm::cli {

/// Thrown to end the tool. Its line has been printed.
struct ended {
  int status = 1;
};

/// Prints "isotherm: `line`" on standard error and ends the tool with this exit status.
[[noreturn]] void fail(const std::string& line, int status = 1);

/// Fails with exit status 2, for a mistake in the command line.
[[noreturn]] void refuse_words(const std::string& line);

/// Fails with the error's message where `done` is an error.
void require(const base::result<void>& done);

}  // namespace isotherm::cli
