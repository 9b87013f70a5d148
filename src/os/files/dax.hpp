// Memory that is reached through a path: a DAX device, or a file system whose files are mapped
// without the page cache.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "os/files/file.hpp"

namespace isotherm::os {

/// A device or file whose mapping gives the bytes of the device itself.
struct dax {
  file memory;              ///< for map_over()
  std::uint64_t bytes = 0;  ///< of a device its size; of a file 0, as it grows (take_space())
  /// Whether memory control groups count its pages, as they do in tmpfs; not those of DAX.
  bool is_charged = false;
  bool is_device() const noexcept { return bytes > 0; }
};

/// Opens a DAX device (/dev/dax0.0), whose content is lost, or makes a file without a name in a
/// directory on a file system that is mounted with DAX or is tmpfs: of it nothing stays behind.
/// Fails with one line that says what to do: no such path, neither device nor directory, a file
/// system with a page cache, not permitted, less than `least_bytes` of size or of free space.
base::result<dax> open_dax(const std::string& path, std::uint64_t least_bytes);

}  // namespace isotherm::os
