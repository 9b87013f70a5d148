#include "os/files/spool.hpp"

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

std::string waiting_directory(const std::string& path, const std::string& temporary) {
  if (!named_descriptor(path) && !is_mount_point(path)) return directory_of(path);
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

base::result<input_file> open_input(const std::string& path) {
  const auto descriptor = named_descriptor(path);
  auto f = descriptor ? file::of_descriptor(*descriptor, name_of_descriptor(*descriptor, path))
                      : file::open(path);
  if (!f) return std::unexpected(f.error());
  const auto still = holds_still(*f);
  if (!still && !descriptor) return std::unexpected(still.error());
  return input_file{std::move(*f), still && *still};
}

base::result<std::uint64_t> append(const file& from, const file& to, std::uint64_t offset,
                                   const std::stop_token& stop) {
  auto piece = buffer::reserve(kPiece);
  if (!piece) return std::unexpected(piece.error());
  for (;;) {
    if (stop.stop_requested()) {
      return std::unexpected(base::error{"interrupted: nothing was written", EINTR});
    }
    const auto ready = from.readable(kWaitMilliseconds);
    if (!ready) return std::unexpected(ready.error());
    if (!*ready) continue;
    const auto n = from.read_next({piece->data(), piece->size()});
    if (!n && try_again(n.error())) continue;
    if (!n) return std::unexpected(n.error());
    if (*n == 0) return offset;
    if (auto r = to.write({piece->data(), *n}, offset); !r) return std::unexpected(r.error());
    offset += *n;
  }
}

base::result<file> spool(const file& from, const std::string& directory,
                         const std::stop_token& stop) {
  auto to = file::unnamed(directory);
  if (!to) return to;
  if (auto r = append(from, *to, 0, stop); !r) return std::unexpected(r.error());
  return to;
}

base::result<void> pour(const file& f, const file& to, const std::stop_token& stop) {
  auto bytes = f.size();
  auto piece = buffer::reserve(kPiece);
  const auto kind = identity(to);
  if (!bytes) return std::unexpected(bytes.error());
  if (!piece) return std::unexpected(piece.error());
  if (!kind) return std::unexpected(kind.error());
  const std::size_t at_once = kind->regular ? kPiece : file::kNoWait;
  for (std::uint64_t offset = 0; offset < *bytes;) {
    const std::span<std::byte> part(piece->data(),
                                    std::min<std::uint64_t>(kPiece, *bytes - offset));
    if (auto r = f.read(part, offset); !r) return r;
    for (std::size_t done = 0; done < part.size();) {
      if (stop.stop_requested()) {
        return std::unexpected(
            base::error{"interrupted: what " + to.path() + " got is not complete", EINTR});
      }
      const auto ready = to.writable(kWaitMilliseconds);
      if (!ready) return std::unexpected(ready.error());
      if (!*ready) continue;
      const auto n = to.write_next(part.subspan(done, std::min(at_once, part.size() - done)));
      if (!n && try_again(n.error())) continue;
      if (!n) return std::unexpected(n.error());
      done += *n;
    }
    offset += part.size();
  }
  return {};
}

}  // namespace isotherm::os
