// How a command that cannot do its work ends.
#pragma once

#include <string>

#include "base/error.hpp"

namespace isotherm::cli {

/// Prints "isotherm: `line`" on standard error and ends the command with exit status 1.
[[noreturn]] void fail(const std::string& line);

/// Fails with the error's message where `done` is an error.
void require(const base::result<void>& done);

}  // namespace isotherm::cli
