// The unlinked file behind a logged COLD heap: it has no name, so that nothing is left behind
// whatever ends the process.
#pragma once

#include <string>

#include "base/error.hpp"
#include "os/files/file.hpp"

namespace isotherm::os {

/// Makes a file without a name in `directory`, of which space can be taken and given back. Refuses
/// with one line that says what to do: no such directory, not writable, tmpfs or ramfs (their pages
/// are DRAM), a file system without fallocate(2) or without direct I/O.
base::result<file> open_cold_file(const std::string& directory);

}  // namespace isotherm::os
