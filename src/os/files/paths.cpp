#include "os/files/paths.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "os/faults.hpp"
#include "os/files/failure.hpp"

namespace isotherm::os {
namespace {

file_identity identity_of(const struct stat& s) {
  return {s.st_dev, s.st_ino, S_ISREG(s.st_mode), S_ISFIFO(s.st_mode) || S_ISCHR(s.st_mode)};
}

}  // namespace

base::result<file_identity> identity(const std::string& path) {
  if (const int e = injected_fault(io_call::stat)) return failed("cannot examine " + path, e);
  struct stat s;
  if (::stat(path.c_str(), &s) != 0) return failed("cannot examine " + path, errno);
  return identity_of(s);
}

base::result<file_identity> identity(const file& f) {
  const std::string attempt = "cannot examine " + f.path();
  if (const int e = injected_fault(io_call::stat)) return failed(attempt, e);
  struct stat s;
  if (::fstat(f.descriptor(), &s) != 0) return failed(attempt, errno);
  return identity_of(s);
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

bool is_mount_point(const std::string& path) {
  struct statx s;
  return ::statx(AT_FDCWD, path.c_str(), 0, STATX_TYPE, &s) == 0 &&
         (s.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace isotherm::os
