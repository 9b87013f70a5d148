// Names and room of file systems.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace isotherm::os {

/// Renames `from` to `to`, replacing it.
base::result<void> rename_file(const std::string& from, const std::string& to);
/// Waits until the names in `directory` are on the device.
base::result<void> sync_directory(const std::string& directory);
/// Removes `path`; a missing file is no error. Used in clean-up: never refused by a fault hook.
void remove_file(const std::string& path) noexcept;
/// Bytes that a user without privileges may still write on the file system of `directory`. An error
/// if that holds no files (/proc).
base::result<std::uint64_t> free_space(const std::string& directory);
/// Whether files can be made in `directory`; the error says why not.
base::result<void> check_writable(const std::string& directory);

}  // namespace isotherm::os
