#include "os/files/dax.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/numbers.hpp"
#include "os/files/file_system.hpp"
#include "os/proc_file.hpp"

namespace isotherm::os {
namespace {

std::unexpected<base::error> refusal(std::string message, int code) {
  return std::unexpected(base::error{std::move(message), code});
}

std::unexpected<base::error> refuse_access(const std::string& path, int code) {
  return refusal(
      "'" + path +
          "' is not permitted to this process: change its owner or mode, or name another "
          "place",
      code);
}

std::string lacks_room(const std::string& path, const char* of_it, std::uint64_t bytes,
                       std::uint64_t least_bytes) {
  return "'" + path + "' has " + base::format_bytes(bytes) + of_it + ", and COLD needs " +
         base::format_bytes(least_bytes) + " at least: make room or name another place";
}

/// Returns the size of a DAX device; 0 of another device.
std::uint64_t bytes_of_device(dev_t device) {
  const std::string entry =
      "/sys/dev/char/" + std::to_string(major(device)) + ":" + std::to_string(minor(device));
  std::error_code none;
  const auto subsystem = std::filesystem::read_symlink(entry + "/subsystem", none);
  if (subsystem.filename() != "dax") return 0;
  return number_after(read_proc_file((entry + "/size").c_str()), "").value_or(0);
}

base::result<dax> open_device(const std::string& path, dev_t device, std::uint64_t least_bytes) {
  const std::uint64_t bytes = bytes_of_device(device);
  if (bytes == 0) {
    return refusal("'" + path + "' is no DAX device: name one as /dev/dax0.0, or a directory",
                   ENODEV);
  }
  if (bytes < least_bytes) return refusal(lacks_room(path, "", bytes, least_bytes), ENOSPC);
  auto opened = file::for_mapping(path);
  if (opened && ::flock(opened->descriptor(), LOCK_EX | LOCK_NB) != 0) {
    return refusal("'" + path + "' is in use by another process as its COLD: name another device",
                   errno);
  }
  if (opened) return dax{.memory = std::move(*opened), .bytes = bytes};
  const int code = opened.error().code;
  if (code == EACCES || code == EPERM) return refuse_access(path, code);
  return std::unexpected(opened.error());
}

bool is_in_tmpfs(const file& made) {
  struct statfs system{};
  return ::fstatfs(made.descriptor(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

/// Whether a mapping of the file reaches the memory of a device.
bool has_dax(const file& made) {
  struct statx found{};
  const int asked = ::statx(made.descriptor(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &found);
  return asked == 0 && (found.stx_attributes & STATX_ATTR_DAX) != 0;
}

base::result<dax> make_file(const std::string& directory, std::uint64_t least_bytes) {
  auto made = file::unnamed(directory, "the cold file");
  if (!made) {
    const int code = made.error().code;
    if (code == EACCES || code == EPERM || code == EROFS) return refuse_access(directory, code);
    return std::unexpected(made.error());
  }
  const bool is_charged = is_in_tmpfs(*made);
  if (!is_charged && !has_dax(*made)) {
    return refusal("'" + directory +
                       "' is on a file system without DAX, whose pages would lie in DRAM: mount it "
                       "with -o dax, or give file:" +
                       directory,
                   EINVAL);
  }
  const auto free = free_space(directory);
  if (!free) return std::unexpected(free.error());
  if (*free < least_bytes)
    return refusal(lacks_room(directory, " free", *free, least_bytes), ENOSPC);
  return dax{.memory = std::move(*made), .is_charged = is_charged};
}

}  // namespace

base::result<dax> open_dax(const std::string& path, std::uint64_t least_bytes) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) {
    const int code = errno;
    if (code == ENOENT) {
      return refusal("'" + path + "' does not exist: name a DAX device or a directory", code);
    }
    if (code == EACCES) return refuse_access(path, code);
    return std::unexpected(base::system_error("'" + path + "'", code));
  }
  if (S_ISDIR(found.st_mode)) return make_file(path, least_bytes);
  if (S_ISCHR(found.st_mode)) return open_device(path, found.st_rdev, least_bytes);
  return refusal("'" + path +
                     "' is neither a DAX device nor a directory: to use a file system with DAX, "
                     "name a directory of it",
                 ENOTDIR);
}

}  // namespace isotherm::os
