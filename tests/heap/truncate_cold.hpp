// Pages of COLD that the disk does not give back: the file behind it is cut.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace isotherm::testing_help {

/// Cuts this process's unnamed file of `directory` to `bytes`: a read of a page beyond fails, as
/// one does that the disk does not answer. Returns false when there is no such file.
inline bool truncate_cold(const std::string& directory, std::size_t bytes) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code none;
    const auto file = std::filesystem::read_symlink(each.path(), none).string();
    if (!file.starts_with(directory) || !file.ends_with("(deleted)")) continue;
    return truncate(each.path().c_str(), static_cast<off_t>(bytes)) == 0;
  }
  return false;
}

}  // namespace isotherm::testing_help
