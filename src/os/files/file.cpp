#include "os/files/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/check.hpp"
#include "os/faults.hpp"
#include "os/files/failure.hpp"
#include "os/files/paths.hpp"

namespace isotherm::os {
namespace {

constexpr std::size_t kLargePipe = 1 << 20;  // as large as a user may make one
// A signal can come between the look at the flag and the wait, which it does not end then.
constexpr int kWaitMilliseconds = 100;
constexpr std::size_t kLargestCall = std::size_t{1} << 30;  // below the system's limit of 2 GiB

/// A descriptor of a new file that has no name; -1 with EOPNOTSUPP where the file system has no
/// such files.
int open_without_name(const std::string& directory, mode_t mode) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (fd < 0 && errno == EISDIR) errno = EOPNOTSUPP;  // a kernel that does not know O_TMPFILE
  return fd;
}

/// Returns the name under which the process itself can open `fd` or link it, where /proc is
/// mounted.
std::string name_in_proc(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// fallocate(2), as often as signals interrupt it; 0 or an errno value.
int change_space(int fd, int mode, std::uint64_t offset, std::uint64_t bytes) {
  for (;;) {
    if (::fallocate(fd, mode, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

}  // namespace

file::~file() {
  if (fd_ >= 0) ::close(fd_);
}

base::result<file> file::open(const std::string& path) {
  if (const int e = injected_fault(io_call::open)) return failed("cannot open " + path, e);
  // Without waiting for the other end of a pipe, which is refused later.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failed("cannot open '" + path + "'", errno);
  return file(fd, path);
}

base::result<file> file::create(const std::string& path) {
  if (const int e = injected_fault(io_call::create)) return failed("cannot create " + path, e);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return failed("cannot create " + path, errno);
  return file(fd, path);
}

base::result<file> file::unnamed(const std::string& directory, const std::string& purpose) {
  const std::string attempt = "cannot create " + purpose + " in " + directory;
  if (const int e = injected_fault(io_call::create)) return failed(attempt, e);
  int fd = open_without_name(directory, 0600);
  if (fd < 0 && errno == EOPNOTSUPP) {
    std::string name = directory + "/.isotherm-XXXXXX";
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
  }
  if (fd < 0) return failed(attempt, errno);
  return file(fd, purpose + " in " + directory);
}

base::result<file> file::linkable(const std::string& path) {
  if (const int e = injected_fault(io_call::create)) return failed("cannot create " + path, e);
  file f(open_without_name(directory_of(path), 0666), path);
  if (!f) return failed("cannot create " + path, errno);
  // link() needs the name that /proc gives the descriptor.
  if (::access(name_in_proc(f.fd_).c_str(), F_OK) != 0) {
    return failed("cannot create " + path, EOPNOTSUPP);
  }
  return f;
}

base::result<file> file::writable_in_place(const std::string& path) {
  if (const int e = injected_fault(io_call::open)) return failed("cannot open " + path, e);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return failed("cannot write to " + path, errno);
  return file(fd, path);
}

base::result<file> file::for_mapping(const std::string& path) {
  if (const int e = injected_fault(io_call::open)) return failed("cannot open " + path, e);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return failed("cannot open " + path, errno);
  return file(fd, path);
}

base::result<file> file::of_descriptor(int descriptor, const std::string& name) {
  if (const int e = injected_fault(io_call::open)) return failed("cannot open " + name, e);
  const int fd = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return failed("cannot open " + name, errno);
  return file(fd, name);
}

base::result<file> file::in_memory(const std::string& purpose) {
  const std::string attempt = "cannot create " + purpose + " in memory";
  if (const int e = injected_fault(io_call::create)) return failed(attempt, e);
  const int fd = ::memfd_create("isotherm", MFD_CLOEXEC);
  if (fd < 0) return failed(attempt, errno);
  return file(fd, purpose + " in memory");
}

base::result<pipe_ends> file::pipe(const std::string& purpose) {
  const std::string attempt = "cannot create " + purpose;
  if (const int e = injected_fault(io_call::create)) return failed(attempt, e);
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return failed(attempt, errno);
  pipe_ends ends{file(fds[0], purpose), file(fds[1], purpose)};
  ends.writing.widen_pipe();
  ::fcntl(fds[1], F_SETFL, O_NONBLOCK);
  ends.writing.in_order_ = {kLargePipe, {}};
  return ends;
}

// Only an open file of the process's own may be told not to wait: others that share this one would
// meet that too.
base::result<file> file::in_order(const std::stop_token& stop) const {
  const std::string attempt = "cannot write to " + path_;
  if (const int e = injected_fault(io_call::open)) return failed(attempt, e);
  struct stat s;
  if (::fstat(fd_, &s) != 0) return failed(attempt, errno);
  const int own = S_ISFIFO(s.st_mode)
                      ? ::open(name_in_proc(fd_).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                      : -1;
  file f(own >= 0 ? own : ::fcntl(fd_, F_DUPFD_CLOEXEC, 0), path_);
  if (!f) return failed(attempt, errno);
  f.widen_pipe();
  f.in_order_ = {own >= 0 || S_ISREG(s.st_mode) ? kLargePipe : kNoWait, stop};
  return f;
}

void file::widen_pipe() const noexcept { ::fcntl(fd_, F_SETPIPE_SZ, static_cast<int>(kLargePipe)); }

base::result<file> file::again() const {
  if (const int e = injected_fault(io_call::open))
    return failed("cannot open " + path_ + " again", e);
  const int fd = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return failed("cannot open " + path_ + " again", errno);
  return file(fd, path_);
}

base::result<file> file::past_the_cache() const {
  const std::string attempt = "cannot open " + path_ + " past the page cache";
  if (const int e = injected_fault(io_call::open)) return failed(attempt, e);
  const std::string self = name_in_proc(fd_);
  // A read that notes its time in the inode waits for the file system's journal, and so for what a
  // slow disk is writing. Only the file's owner may leave that out.
  constexpr int kFlags = O_RDWR | O_DIRECT | O_CLOEXEC;
  int fd = ::open(self.c_str(), kFlags | O_NOATIME);
  if (fd < 0 && errno == EPERM) fd = ::open(self.c_str(), kFlags);
  if (fd < 0) return failed(attempt, errno);
  return file(fd, path_);
}

base::result<void> file::link(const std::string& path) const {
  const std::string attempt = "cannot give " + path_ + " its name";
  if (const int e = injected_fault(io_call::link)) return failed(attempt, e);
  const std::string self = name_in_proc(fd_);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return failed(attempt, errno);
  }
  return {};
}

base::result<void> file::close() {
  const int fd = std::exchange(fd_, -1);
  const int injected_error = injected_fault(io_call::close);
  const bool good = ::close(fd) == 0;
  if (injected_error != 0) return failed("cannot write " + path_, injected_error);
  if (!good && errno != EINTR) return failed("cannot write " + path_, errno);
  return {};
}

base::result<std::size_t> file::read_some(std::span<std::byte> target, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < target.size()) {
    if (const int e = injected_fault(io_call::read)) return failed("cannot read " + path_, e);
    const ssize_t n =
        ::pread(fd_, target.data() + done, std::min(target.size() - done, kLargestCall),
                static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("cannot read " + path_, errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

base::result<void> file::read(std::span<std::byte> target, std::uint64_t offset) const {
  auto n = read_some(target, offset);
  if (!n) return std::unexpected(n.error());
  if (*n == target.size()) return {};
  return std::unexpected(base::error{path_ + " ended early: it was cut while being read", 0});
}

base::result<void> file::append(std::span<const std::byte> source) const {
  ISO_CHECK(in_order_.has_value(), "only a file that is written in order takes more at its end");
  while (!source.empty()) {
    if (in_order_->stop.stop_requested()) {
      return std::unexpected(
          base::error{"interrupted: what " + path_ + " got is not complete", EINTR});
    }
    const auto ready = writable(kWaitMilliseconds);
    if (!ready) return std::unexpected(ready.error());
    if (!*ready) continue;
    const auto n = write_next(source.first(std::min(source.size(), in_order_->at_once)));
    if (n) {
      source = source.subspan(*n);
    } else if (n.error().code != EINTR && n.error().code != EAGAIN) {
      return std::unexpected(n.error());
    }
  }
  return {};
}

base::result<void> file::write(std::span<const std::byte> source, std::uint64_t offset) const {
  if (in_order_) return append(source);
  std::size_t done = 0;
  while (done < source.size()) {
    if (const int e = injected_fault(io_call::write)) return failed("cannot write " + path_, e);
    const ssize_t n =
        ::pwrite(fd_, source.data() + done, std::min(source.size() - done, kLargestCall),
                 static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("cannot write " + path_, errno);
    if (n == 0) return failed("cannot write " + path_, EIO);  // it would be tried for ever
    done += static_cast<std::size_t>(n);
  }
  return {};
}

base::result<std::size_t> file::read_next(std::span<std::byte> target) const {
  if (const int e = injected_fault(io_call::read)) return failed("cannot read " + path_, e);
  const ssize_t n = ::read(fd_, target.data(), std::min(target.size(), kLargestCall));
  if (n < 0) return failed("cannot read " + path_, errno);
  return static_cast<std::size_t>(n);
}

base::result<std::size_t> file::write_next(std::span<const std::byte> source) const {
  if (const int e = injected_fault(io_call::write)) return failed("cannot write " + path_, e);
  const ssize_t n = ::write(fd_, source.data(), std::min(source.size(), kLargestCall));
  if (n <= 0) return failed("cannot write " + path_, n < 0 ? errno : EIO);
  return static_cast<std::size_t>(n);
}

base::result<bool> file::readable(int milliseconds) const { return ready(POLLIN, milliseconds); }
base::result<bool> file::writable(int milliseconds) const { return ready(POLLOUT, milliseconds); }

base::result<bool> file::ready(short events, int milliseconds) const {
  if (const int e = injected_fault(io_call::wait)) return failed("cannot wait for " + path_, e);
  pollfd asked{.fd = fd_, .events = events, .revents = 0};
  const int n = ::poll(&asked, 1, milliseconds);
  if (n < 0 && errno != EINTR) return failed("cannot wait for " + path_, errno);
  return n > 0;
}

base::result<std::uint64_t> file::size() const {
  auto s = state();
  if (!s) return std::unexpected(s.error());
  return s->bytes;
}

base::result<file_state> file::state() const {
  if (const int e = injected_fault(io_call::stat)) return failed("cannot examine " + path_, e);
  struct stat s;
  if (::fstat(fd_, &s) != 0) return failed("cannot examine " + path_, errno);
  if (!S_ISREG(s.st_mode)) {
    return std::unexpected(base::error{path_ + " is not a regular file: name one", 0});
  }
  const auto ns = [](const timespec& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  return file_state{static_cast<std::uint64_t>(s.st_size), ns(s.st_mtim), ns(s.st_ctim)};
}

base::result<void> file::resize(std::uint64_t bytes) const {
  if (const int e = injected_fault(io_call::resize)) return failed("cannot resize " + path_, e);
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
    return failed("cannot resize " + path_, errno);
  }
  return {};
}

base::result<void> file::take_space(std::uint64_t offset, std::uint64_t bytes) const {
  if (const int e = injected_fault(io_call::resize)) return failed("cannot grow " + path_, e);
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      offset + bytes > limit.rlim_cur) {
    return failed("cannot grow " + path_, EFBIG);  // the call itself would raise SIGXFSZ
  }
  if (const int e = change_space(fd_, 0, offset, bytes)) return failed("cannot grow " + path_, e);
  return {};
}

base::result<void> file::punch_hole(std::uint64_t offset, std::uint64_t bytes) const {
  if (const int e = injected_fault(io_call::resize)) return failed("cannot shrink " + path_, e);
  const int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (const int e = change_space(fd_, hole, offset, bytes)) {
    return failed("cannot shrink " + path_, e);
  }
  return {};
}

base::result<std::optional<file_part>> file::data_from(std::uint64_t offset) const {
  const std::string attempt = "cannot find the data of " + path_;
  if (const int e = injected_fault(io_call::stat)) return failed(attempt, e);
  const off_t begin = ::lseek(fd_, static_cast<off_t>(offset), SEEK_DATA);
  if (begin < 0 && errno == ENXIO) return std::nullopt;
  const off_t end = begin < 0 ? begin : ::lseek(fd_, begin, SEEK_HOLE);
  if (end < 0) return failed(attempt, errno);
  return file_part{static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)};
}

base::result<void> file::discard(std::uint64_t offset, std::uint64_t bytes) const {
  const auto punched = punch_hole(offset, bytes);
  const int e = punched ? 0 : punched.error().code;
  // EPERM, EINVAL: as some file systems say that they have no holes.
  if (e == EOPNOTSUPP || e == ENOSYS || e == EPERM || e == EINVAL) return {};
  return punched;
}

base::result<void> file::sync() const {
  if (const int e = injected_fault(io_call::sync)) return failed("cannot flush " + path_, e);
  if (::fdatasync(fd_) != 0) return failed("cannot flush " + path_, errno);
  return {};
}

}  // namespace isotherm::os
