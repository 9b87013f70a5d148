#include "os/files/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "os/faults.hpp"
#include "os/files/failure.hpp"

namespace isotherm::os {

base::result<file> open_locked(const std::string& path) {
  if (const int e = injected_fault(io_call::create)) return failed("cannot open " + path, e);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed("cannot open " + path, errno);
  auto found = ::flock(fd, LOCK_EX | LOCK_NB) == 0
                   ? file::of_descriptor(fd, path)  // another handle has the same lock
                   : base::result<file>(failed("cannot lock " + path, errno));
  ::close(fd);
  return found;
}

}  // namespace isotherm::os
