#include "device/io.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/atomic.hpp"
#include "base/page.hpp"

namespace isotherm::device {
namespace {

fault_hook& hook() {
  static fault_hook installed;
  return installed;
}

int injected(io_call call) {
  const fault_hook& f = hook();
  return f ? f(call) : 0;
}

base::atomic<int>& thread_fault() {
  static base::atomic<int> code{0};
  return code;
}

std::optional<std::uint64_t>& pretended_space() {
  static std::optional<std::uint64_t> bytes;
  return bytes;
}

/// What a user can do about it; empty where the system's word says all.
std::string_view advice(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return ": check the name, and that its directory is there";
    case EACCES:
    case EPERM:
    case EROFS:
      return ": change the permissions, or name another place";
    case ENOSPC:
    case EDQUOT:
      return ": free some space, or name another place";
    case EFBIG:
      return ": raise the limit of file sizes (ulimit -f), or use another file system";
    case EIO:
      return ": the device failed; the kernel's log may tell why";
    default:
      return "";
  }
}

std::unexpected<base::error> failed(const std::string& what, int code) {
  auto e = base::system_error(what, code);
  e.message += advice(code);
  return std::unexpected(std::move(e));
}

constexpr std::size_t kLargestCall = std::size_t{1} << 30;  // below the system's limit of 2 GiB

}  // namespace

void set_thread_fault(int code) { thread_fault().store_relaxed(code); }
void set_fault_hook(fault_hook h) { hook() = std::move(h); }
void set_free_space(std::optional<std::uint64_t> bytes) { pretended_space() = bytes; }

file::~file() {
  if (fd_ >= 0) ::close(fd_);
}

base::result<file> file::open(const std::string& path) {
  if (const int e = injected(io_call::open)) return failed("cannot open " + path, e);
  // Without waiting for the other end of a pipe, which is refused later.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failed("cannot open '" + path + "'", errno);
  return file(fd, path);
}

base::result<file> file::create(const std::string& path) {
  if (const int e = injected(io_call::create)) return failed("cannot create " + path, e);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return failed("cannot create " + path, errno);
  return file(fd, path);
}

base::result<file> file::unnamed(const std::string& directory) {
  const std::string what = "cannot create a temporary file in " + directory;
  if (const int e = injected(io_call::create)) return failed(what, e);
  int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    std::string name = directory + "/.isotherm-XXXXXX";
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
  }
  if (fd < 0) return failed(what, errno);
  return file(fd, "a temporary file in " + directory);
}

base::result<file> file::linkable(const std::string& path) {
  if (const int e = injected(io_call::create)) return failed("cannot create " + path, e);
  int fd = ::open(directory_of(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (fd < 0) return failed("cannot create " + path, errno == EISDIR ? EOPNOTSUPP : errno);
  return file(fd, path);
}

base::result<file> file::of_descriptor(int descriptor, const std::string& name) {
  if (const int e = injected(io_call::open)) return failed("cannot open " + name, e);
  const int fd = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return failed("cannot open " + name, errno);
  return file(fd, name);
}

base::result<file> file::again() const {
  if (const int e = injected(io_call::open)) return failed("cannot open " + path_ + " again", e);
  const int fd = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return failed("cannot open " + path_ + " again", errno);
  return file(fd, path_);
}

base::result<file> file::past_the_cache() const {
  const std::string what = "cannot open " + path_ + " past the page cache";
  if (const int e = injected(io_call::open)) return failed(what, e);
  const std::string self = "/proc/self/fd/" + std::to_string(fd_);
  const int fd = ::open(self.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
  if (fd < 0) return failed(what, errno);
  return file(fd, path_);
}

base::result<void> file::permit_as(const std::string& path) const {
  const std::string what = "cannot give " + path_ + " the permissions of the file it replaces";
  if (const int e = injected(io_call::stat)) return failed(what, e);
  struct stat there;
  struct stat ours;
  if (::stat(path.c_str(), &there) != 0) {
    if (errno == ENOENT) return {};
    return failed(what, errno);
  }
  if (::fstat(fd_, &ours) != 0) return failed(what, errno);
  mode_t mode = there.st_mode & 0777;  // other contents get no rights beyond reading and writing
  const bool other = there.st_uid != ours.st_uid || there.st_gid != ours.st_gid;
  if (other && ::fchown(fd_, there.st_uid, there.st_gid) != 0) {
    // Without its group, members of ours get what all others had.
    if (::fchown(fd_, static_cast<uid_t>(-1), there.st_gid) != 0) {
      mode &= ~mode_t{070} | (mode & 07) << 3;
    }
  }
  if (::fchmod(fd_, mode) != 0) return failed(what, errno);
  return {};
}

base::result<void> file::link(const std::string& path) const {
  const std::string what = "cannot give " + path_ + " its name";
  if (const int e = injected(io_call::link)) return failed(what, e);
  const std::string self = "/proc/self/fd/" + std::to_string(fd_);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return failed(what, errno);
  }
  return {};
}

base::result<void> file::close() {
  const int fd = std::exchange(fd_, -1);
  const int injected_error = injected(io_call::close);
  const bool good = ::close(fd) == 0;
  if (injected_error != 0) return failed("cannot write " + path_, injected_error);
  if (!good && errno != EINTR) return failed("cannot write " + path_, errno);
  return {};
}

base::result<std::size_t> file::read_some(std::span<std::byte> target, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < target.size()) {
    if (const int e = injected(io_call::read)) return failed("cannot read " + path_, e);
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

base::result<void> file::write(std::span<const std::byte> source, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < source.size()) {
    if (const int e = injected(io_call::write)) return failed("cannot write " + path_, e);
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
  if (const int e = injected(io_call::read)) return failed("cannot read " + path_, e);
  const ssize_t n = ::read(fd_, target.data(), std::min(target.size(), kLargestCall));
  if (n < 0) return failed("cannot read " + path_, errno);
  return static_cast<std::size_t>(n);
}

base::result<std::size_t> file::write_next(std::span<const std::byte> source) const {
  if (const int e = injected(io_call::write)) return failed("cannot write " + path_, e);
  const ssize_t n = ::write(fd_, source.data(), std::min(source.size(), kLargestCall));
  if (n <= 0) return failed("cannot write " + path_, n < 0 ? errno : EIO);
  return static_cast<std::size_t>(n);
}

base::result<bool> file::readable(int milliseconds) const { return ready(POLLIN, milliseconds); }
base::result<bool> file::writable(int milliseconds) const { return ready(POLLOUT, milliseconds); }

base::result<bool> file::ready(short events, int milliseconds) const {
  if (const int e = injected(io_call::wait)) return failed("cannot wait for " + path_, e);
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
  if (const int e = injected(io_call::stat)) return failed("cannot examine " + path_, e);
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
  if (const int e = injected(io_call::resize)) return failed("cannot resize " + path_, e);
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
    return failed("cannot resize " + path_, errno);
  }
  return {};
}

base::result<void> file::discard(std::uint64_t offset, std::uint64_t bytes) const {
  if (const int e = injected(io_call::resize)) return failed("cannot shrink " + path_, e);
  const int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  int r = 0;
  do {
    r = ::fallocate(fd_, hole, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (r != 0 && errno == EINTR);
  // EPERM, EINVAL: as some file systems say that they have no holes.
  if (r == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM || errno == EINVAL) {
    return {};
  }
  return failed("cannot shrink " + path_, errno);
}

base::result<void> file::sync() const {
  if (const int e = injected(io_call::sync)) return failed("cannot flush " + path_, e);
  if (::fdatasync(fd_) != 0) return failed("cannot flush " + path_, errno);
  return {};
}

mapping::~mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

base::result<mapping> mapping::map(const file& f, std::uint64_t bytes, bool writable) {
  if (const int e = injected(io_call::map)) return failed("cannot map " + f.path(), e);
  void* p = ::mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                   f.descriptor(), 0);
  if (p == MAP_FAILED) return failed("cannot map " + f.path(), errno);
  mapping m;
  m.data_ = static_cast<std::byte*>(p);
  m.bytes_ = bytes;
  return m;
}

void mapping::forget(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  const std::uint64_t begin = (offset + base::kPageBytes - 1) / base::kPageBytes * base::kPageBytes;
  const std::uint64_t end = std::min(offset + bytes, bytes_) / base::kPageBytes * base::kPageBytes;
  if (begin < end) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

base::result<std::jthread> start_thread(std::function<void()> body) {
  int code = thread_fault().load_relaxed();
  if (code == 0) {
    try {
      return std::jthread(std::move(body));
    } catch (const std::system_error& refused) {
      code = refused.code().value();
    }
  }
  auto e = base::system_error("cannot start a thread", code);
  e.message += ": allow more processes and memory (ulimit -u and -v, or the container's limits)";
  return std::unexpected(std::move(e));
}

base::result<void> rename_file(const std::string& from, const std::string& to) {
  if (const int e = injected(io_call::rename)) return failed("cannot put " + to + " in place", e);
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return failed("cannot put " + to + " in place", errno);
  }
  return {};
}

base::result<void> sync_directory(const std::string& directory) {
  const std::string what = "cannot flush the directory " + directory;
  if (const int e = injected(io_call::sync)) return failed(what, e);
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return failed(what, errno);
  const int code = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  // EINVAL: a file system whose directories need not be, or cannot be, waited for.
  if (code != 0 && code != EINVAL) return failed(what, code);
  return {};
}

void remove_file(const std::string& path) noexcept { ::unlink(path.c_str()); }

base::result<std::uint64_t> free_space(const std::string& directory) {
  if (const int e = injected(io_call::space)) return failed("cannot examine " + directory, e);
  if (const auto pretended = pretended_space()) return *pretended;
  struct statvfs s;
  if (::statvfs(directory.c_str(), &s) != 0) return failed("cannot examine " + directory, errno);
  if (s.f_blocks == 0) {
    return std::unexpected(base::error{directory + " holds no files: name another place", 0});
  }
  return static_cast<std::uint64_t>(s.f_bavail) * s.f_frsize;
}

base::result<file_identity> identity(const std::string& path) {
  if (const int e = injected(io_call::stat)) return failed("cannot examine " + path, e);
  struct stat s;
  if (::stat(path.c_str(), &s) != 0) return failed("cannot examine " + path, errno);
  return file_identity{s.st_dev, s.st_ino, S_ISREG(s.st_mode)};
}

base::result<file_identity> identity(const file& f) {
  const std::string what = "cannot examine " + f.path();
  if (const int e = injected(io_call::stat)) return failed(what, e);
  struct stat s;
  if (::fstat(f.descriptor(), &s) != 0) return failed(what, errno);
  return file_identity{s.st_dev, s.st_ino, S_ISREG(s.st_mode)};
}

bool same_file(const std::string& a, const std::string& b) {
  const auto x = identity(a);
  const auto y = identity(b);
  if (x && y) return *x == *y;
  if (x.has_value() != y.has_value()) return false;
  std::error_code failure;
  const auto p = std::filesystem::weakly_canonical(link_target(a), failure);
  if (failure) return a == b;
  const auto q = std::filesystem::weakly_canonical(link_target(b), failure);
  return failure ? a == b : p == q;
}

std::string link_target(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the system; what is more fails when it is opened
  std::filesystem::path at = path;
  std::error_code failure;
  const auto of_proc = [&] {
    struct statfs s;
    return ::statfs(directory_of(at.string()).c_str(), &s) == 0 && s.f_type == PROC_SUPER_MAGIC;
  };
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(at, failure) && !of_proc(); ++i) {
    const auto next = std::filesystem::read_symlink(at, failure);
    if (failure) break;
    at = at.parent_path() / next;  // an absolute one replaces all
  }
  return at.string();
}

base::result<void> check_writable(const std::string& directory) {
  const std::string what = "cannot write to the directory " + directory;
  if (const int e = injected(io_call::stat)) return failed(what, e);
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return failed(what, errno);
  return {};
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace isotherm::device
