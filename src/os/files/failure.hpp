// The errors of calls that touch files: what was tried, what the system says, what a user can do.
#pragma once

#include <expected>
#include <string>

#include "base/error.hpp"

namespace isotherm::os {

/// "`attempt`: No space left on device: free some space, or name another place". `code` is an errno
/// value and is kept.
std::unexpected<base::error> failed(const std::string& attempt, int code);

}  // namespace isotherm::os
