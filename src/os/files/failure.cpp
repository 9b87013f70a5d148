#include "os/files/failure.hpp"

#include <cerrno>
#include <string_view>
#include <utility>

namespace isotherm::os {
namespace {

/// Returns advice for the user; empty where the system's word says all.
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

}  // namespace

std::unexpected<base::error> failed(const std::string& attempt, int code) {
  auto e = base::system_error(attempt, code);
  e.message += advice(code);
  return std::unexpected(std::move(e));
}

}  // namespace isotherm::os
