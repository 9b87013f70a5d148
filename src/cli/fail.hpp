// How a command that cannot do its work ends.
#pragma once

#include <string>

#include "base/error.hpp"

namespace isotherm::cli {

/// Prints "isotherm: `line`" on standard error and ends the command with exit status 1.
[[noreturn]] void fail(const std::string& line);

/// Likewise for a mistake in the command line: with exit status 2.
[[noreturn]] void refuse_words(const std::string& line);

/// Fails with the error's message where `done` is an error.
void require(const base::result<void>& done);

}  // namespace isotherm::cli
