// The unlinked file behind a file-backed COLD heap: it has no name, so that nothing is left behind
// whatever ends the process.
//
// Space is taken before it is written to: a store to a hole on a full disk is SIGBUS, not an error
// code. Dirty pages leave DRAM only after they were written back; see heap/packed/backing.cpp.
#pragma once

#include <string>

#include "base/error.hpp"
#include "os/files/file.hpp"

namespace isotherm::os {

/// Makes a file without a name in `directory`, of which space can be taken and given back. Refuses
/// with one line that says what to do: no such directory, not writable, tmpfs or ramfs (their pages
/// are DRAM), overlayfs (which writes no page back when asked to), a file system without
/// fallocate(2).
base::result<file> open_cold_file(const std::string& directory);

}  // namespace isotherm::os
