#include "os/files/spool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/numbers.hpp"
#include "os/files/paths.hpp"
#include "os/memory/buffer.hpp"

namespace isotherm::os {
namespace {

constexpr std::size_t kPiece = 1 << 20;

// A signal can come between the look at the flag and the wait, which it does not end then.
constexpr int kWaitMilliseconds = 100;

const std::string kOwnDescriptors = "/proc/self/fd/";

/// Whether it was a signal, or a pipe that its owner does not want to wait for.
bool try_again(const base::error& e) { return e.code == EINTR || e.code == EAGAIN; }

}  // namespace

std::string spelled_out(const std::string& path, int standard) {
  return path == "-" ? kOwnDescriptors + std::to_string(standard) : path;
}

std::optional<int> named_descriptor(const std::string& path) {
  const std::filesystem::path at = link_target(path);
  const auto number = [&at] { return base::parse_number<int>(at.filename().string()); };
  if (at.parent_path() / "" == kOwnDescriptors) return number();  // also where /proc is not mounted
  std::error_code failure;
  const auto self = std::filesystem::canonical("/proc/self", failure);
  if (failure) return std::nullopt;
  const auto parent = std::filesystem::canonical(at.parent_path(), failure);
  const bool of_thread =
      parent.filename() == "fd" && parent.parent_path().parent_path() == self / "task";
  if (failure || (parent != self / "fd" && !of_thread)) return std::nullopt;
  return number();
}

std::string name_of_descriptor(int descriptor, const std::string& path) {
  switch (descriptor) {
    case STDIN_FILENO:
      return "standard input";
    case STDOUT_FILENO:
      return "standard output";
    case STDERR_FILENO:
      return "standard error";
    default:
      return path;
  }
}

bool is_stream(const std::string& path) {
  if (named_descriptor(path)) return true;
  struct stat there;
  return ::stat(path.c_str(), &there) == 0 && (S_ISFIFO(there.st_mode) || S_ISCHR(there.st_mode));
}

base::result<file> open_stream(const std::string& path) {
  const auto descriptor = named_descriptor(path);
  if (!descriptor) return file::writable_in_place(path);
  const std::string name = name_of_descriptor(*descriptor, path);
  auto to = file::of_descriptor(*descriptor, name);
  if (!to) return to;
  const int how = ::fcntl(to->descriptor(), F_GETFL);
  if (how >= 0 && (how & O_ACCMODE) != O_RDONLY) return to;
  return std::unexpected(base::error{name + " is not open for writing", 0});
}

std::string waiting_directory(const std::string& path, const std::string& temporary) {
  if (!is_stream(path) && !is_mount_point(path)) return directory_of(path);
  return temporary.empty() ? usual_directory() : temporary;
}

std::string usual_directory() {
  std::error_code failure;
  const auto usual = std::filesystem::temp_directory_path(failure);
  return failure ? "/tmp" : usual.string();
}

base::result<bool> holds_still(const file& f) {
  const auto bytes = f.size();
  if (!bytes) return std::unexpected(bytes.error());
  if (::lseek(f.descriptor(), 0, SEEK_CUR) != 0) return false;
  // Files of /proc say that they hold nothing, those of /sys a page.
  std::byte last;
  auto there = f.read_some({&last, 1}, std::max<std::uint64_t>(*bytes, 1) - 1);
  if (!there) return std::unexpected(there.error());
  return (*there == 1) == (*bytes > 0);
}

// A pipe that no program writes to yet has nothing to read, but no end either: poll() tells.
base::result<input_file> open_input(const std::string& path) {
  const auto descriptor = named_descriptor(path);
  auto f = descriptor ? file::of_descriptor(*descriptor, name_of_descriptor(*descriptor, path))
                      : file::open(path);
  if (!f) return std::unexpected(f.error());
  const auto kind = identity(*f);
  if (!kind) return std::unexpected(kind.error());
  if (!kind->regular && (descriptor || kind->stream)) {
    f->widen_pipe();
    return input_file{std::move(*f), false};
  }
  const auto still = holds_still(*f);
  if (!still) return std::unexpected(still.error());
  return input_file{std::move(*f), *still};
}

base::result<std::size_t> read_waiting(const file& from, std::span<std::byte> target,
                                       const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto ready = from.readable(kWaitMilliseconds);
    if (!ready) return std::unexpected(ready.error());
    if (!*ready) continue;
    auto n = from.read_next(target);
    if (n || !try_again(n.error())) return n;
  }
  return std::unexpected(base::error{"interrupted: nothing was written", EINTR});
}

base::result<file> spool(const file& from, const std::string& directory,
                         const std::stop_token& stop) {
  auto to = file::unnamed(directory);
  auto piece = buffer::reserve(kPiece);
  if (!to) return to;
  if (!piece) return std::unexpected(piece.error());
  for (std::uint64_t offset = 0;;) {
    const auto n = read_waiting(from, {piece->data(), piece->size()}, stop);
    if (!n) return std::unexpected(n.error());
    if (*n == 0) return to;
    if (auto r = to->write({piece->data(), *n}, offset); !r) return std::unexpected(r.error());
    offset += *n;
  }
}

base::result<void> pour(const file& f, const file& to) {
  auto bytes = f.size();
  auto piece = buffer::reserve(kPiece);
  if (!bytes) return std::unexpected(bytes.error());
  if (!piece) return std::unexpected(piece.error());
  for (std::uint64_t offset = 0; offset < *bytes; offset += kPiece) {
    const std::span<std::byte> part(piece->data(),
                                    std::min<std::uint64_t>(kPiece, *bytes - offset));
    if (auto r = f.read(part, offset); !r) return r;
    if (auto r = to.write(part, offset); !r) return r;
  }
  return {};
}

}  // namespace isotherm::os
