#include "os/files/cold_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "os/memory/address_space.hpp"

namespace isotherm::os {
namespace {

std::unexpected<base::error> refusal(std::string message, int code) {
  return std::unexpected(base::error{std::move(message), code});
}

/// Null when the directory can serve; else why it cannot.
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

/// For file systems without O_TMPFILE.
int make_and_unlink(const std::string& directory) {
  std::string name = directory + "/isotherm-cold-XXXXXX";
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor >= 0) unlink(name.c_str());
  return descriptor;
}

/// A file whose space cannot be set aside would kill whoever writes to it when the disk is full
/// (SIGBUS), and one without holes would never shrink. A disk that is full by now is not refused:
/// it may have room later.
base::result<cold_file> sets_space_aside(cold_file file, const std::string& directory) {
  const auto refuses = [](const base::result<void>& done) {
    return !done && (done.error().code == EOPNOTSUPP || done.error().code == ENOSYS);
  };
  const std::size_t page = page_bytes();
  if (refuses(file.take_space(0, page)) || refuses(file.punch_hole(0, page))) {
    return refusal("cold directory '" + directory +
                       "' is on a file system that cannot set space aside and give it back "
                       "(fallocate): name a directory on another, such as ext4, XFS or Btrfs",
                   EOPNOTSUPP);
  }
  return file;
}

}  // namespace

base::result<cold_file> cold_file::open(const std::string& directory) {
  if (auto usable = check_directory(directory); !usable) return std::unexpected(usable.error());
  int descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
    descriptor = make_and_unlink(directory);
  }
  if (descriptor >= 0) return sets_space_aside(cold_file(descriptor), directory);
  const int code = errno;
  if (code == EACCES || code == EPERM || code == EROFS) {
    return refusal(
        "cold directory '" + directory + "' is not writable: change its mode or name another",
        code);
  }
  return std::unexpected(base::system_error("cannot make a file in '" + directory + "'", code));
}

cold_file::cold_file(cold_file&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

cold_file& cold_file::operator=(cold_file&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

cold_file::~cold_file() {
  if (descriptor_ >= 0) close(descriptor_);
}

base::result<void> cold_file::take_space(std::size_t offset, std::size_t bytes) const {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      offset + bytes > limit.rlim_cur) {
    return std::unexpected(base::system_error("cannot grow the cold file", EFBIG));
  }
  int code = 0;
  do {
    code = fallocate(descriptor_, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0
               ? 0
               : errno;
  } while (code == EINTR);
  if (code == 0) return {};
  return std::unexpected(base::system_error("cannot grow the cold file", code));
}

base::result<void> cold_file::punch_hole(std::size_t offset, std::size_t bytes) const {
  if (fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(bytes)) == 0) {
    return {};
  }
  return std::unexpected(base::system_error("cannot give back space of the cold file", errno));
}

base::result<void> cold_file::write_back(std::size_t offset, std::size_t bytes) const {
  constexpr unsigned kWriteAndWait =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  if (sync_file_range(descriptor_, static_cast<off64_t>(offset), static_cast<off64_t>(bytes),
                      kWriteAndWait) == 0) {
    return {};
  }
  return std::unexpected(base::system_error("cannot write back cold pages", errno));
}

}  // namespace isotherm::os
