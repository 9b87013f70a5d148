#include "os/files/file_system.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "os/faults.hpp"
#include "os/files/failure.hpp"

namespace isotherm::os {

base::result<void> rename_file(const std::string& from, const std::string& to) {
  if (const int e = injected_fault(io_call::rename))
    return failed("cannot put " + to + " in place", e);
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return failed("cannot put " + to + " in place", errno);
  }
  return {};
}

base::result<void> sync_directory(const std::string& directory) {
  const std::string attempt = "cannot flush the directory " + directory;
  if (const int e = injected_fault(io_call::sync)) return failed(attempt, e);
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return failed(attempt, errno);
  const int code = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  // EINVAL: a file system whose directories need not be, or cannot be, waited for.
  if (code != 0 && code != EINVAL) return failed(attempt, code);
  return {};
}

void remove_file(const std::string& path) noexcept { ::unlink(path.c_str()); }

base::result<std::uint64_t> free_space(const std::string& directory) {
  if (const int e = injected_fault(io_call::space)) return failed("cannot examine " + directory, e);
  if (const auto pretended = injected_free_space()) return *pretended;
  struct statvfs s;
  if (::statvfs(directory.c_str(), &s) != 0) return failed("cannot examine " + directory, errno);
  if (s.f_blocks == 0) {
    return std::unexpected(base::error{directory + " holds no files: name another place", 0});
  }
  return static_cast<std::uint64_t>(s.f_bavail) * s.f_frsize;
}

base::result<void> check_writable(const std::string& directory) {
  const std::string attempt = "cannot write to the directory " + directory;
  if (const int e = injected_fault(io_call::stat)) return failed(attempt, e);
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return failed(attempt, errno);
  return {};
}

}  // namespace isotherm::os
