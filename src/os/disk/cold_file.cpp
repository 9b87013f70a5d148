#include "os/disk/cold_file.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "os/memory/address_space.hpp"

namespace isotherm::os {
namespace {

std::unexpected<base::error> refusal(std::string message, int code) {
  return std::unexpected(base::error{std::move(message), code});
}

/// Fails with the reason when the directory cannot serve.
base::result<void> check_directory(const std::string& directory) {
  struct stat found{};
  if (stat(directory.c_str(), &found) != 0) {
    const int code = errno;
    if (code == ENOENT) {
      return refusal("cold directory '" + directory + "' does not exist: create it or name another",
                     code);
    }
    return std::unexpected(base::system_error("cold directory '" + directory + "'", code));
  }
  if (!S_ISDIR(found.st_mode)) {
    return refusal("'" + directory + "' is not a directory: name a directory for cold memory",
                   ENOTDIR);
  }
  struct statfs system{};
  if (statfs(directory.c_str(), &system) != 0) {
    return std::unexpected(base::system_error("cold directory '" + directory + "'", errno));
  }
  if (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC) {
    return refusal("cold directory '" + directory +
                       "' is on tmpfs, which is DRAM itself: name a directory on a disk",
                   EINVAL);
  }
  return {};
}

/// A file whose space cannot be set aside would refuse what has left for it already when the disk
/// is full, and one without holes would never shrink. A disk that is full by now is not refused: it
/// may have room later.
base::result<void> check_space_can_be_set_aside(const file& made, const std::string& directory) {
  const auto refuses = [](const base::result<void>& done) {
    return !done && (done.error().code == EOPNOTSUPP || done.error().code == ENOSYS);
  };
  const std::size_t page = page_bytes();
  if (refuses(made.take_space(0, page)) || refuses(made.punch_hole(0, page))) {
    return refusal("cold directory '" + directory +
                       "' is on a file system that cannot set space aside and give it back "
                       "(fallocate): name a directory on another, such as ext4, XFS or Btrfs",
                   EOPNOTSUPP);
  }
  return {};
}

/// Writes a page and reads it. Returns EINVAL where the file system refuses that; other failures
/// show themselves later, as that of a disk that is full by now.
int refusal_of_a_page(const file& direct) {
  const std::size_t page = page_bytes();
  const std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(page, page)), &std::free);
  if (memory == nullptr) return 0;
  std::memset(memory.get(), 0, page);
  auto done = direct.write({memory.get(), page}, 0);
  if (done) done = direct.read({memory.get(), page}, 0);
  static_cast<void>(direct.punch_hole(0, page));
  return !done && done.error().code == EINVAL ? EINVAL : 0;
}

/// Without it the page cache would hold in DRAM what has left DRAM.
base::result<void> check_direct_access(const file& made, const std::string& directory) {
  const auto direct = made.past_the_cache();
  // Some file systems, and disks of large blocks, refuse what is then asked of it alone.
  const int code = direct ? refusal_of_a_page(*direct) : direct.error().code;
  if (!direct && code != EINVAL) return std::unexpected(direct.error());
  if (code != EINVAL) return {};
  return refusal("cold directory '" + directory +
                     "' is on a file system without direct I/O (O_DIRECT): name a directory on "
                     "another, such as ext4, XFS or Btrfs",
                 EINVAL);
}

}  // namespace

base::result<file> open_cold_file(const std::string& directory) {
  if (auto usable = check_directory(directory); !usable) return std::unexpected(usable.error());
  auto made = file::unnamed(directory, "the cold file");
  if (made) {
    auto good = check_space_can_be_set_aside(*made, directory);
    if (good) good = check_direct_access(*made, directory);
    if (!good) return std::unexpected(good.error());
    return made;
  }
  const int code = made.error().code;
  if (code == EACCES || code == EPERM || code == EROFS) {
    return refusal(
        "cold directory '" + directory + "' is not writable: change its mode or name another",
        code);
  }
  return made;
}

}  // namespace isotherm::os
