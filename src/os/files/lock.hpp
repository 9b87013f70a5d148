// A file that one process at a time has.
#pragma once

#include <string>

#include "base/error.hpp"
#include "os/files/file.hpp"

namespace isotherm::os {

/// Opens `path` for reading and writing, creates it for its owner alone where it is missing, and
/// locks it until it is closed, whatever ends the process. Children of fork() that keep the
/// descriptor keep the lock. Errors: EWOULDBLOCK: the file is locked.
base::result<file> open_locked(const std::string& path);

}  // namespace isotherm::os
