#include "os/files/pending_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/atomic.hpp"
#include "os/files/attributes.hpp"
#include "os/files/file_system.hpp"
#include "os/files/paths.hpp"
#include "os/files/spool.hpp"

namespace isotherm::os {
namespace {

constexpr unsigned kNamesLookedAt = 32;  // for what a killed process left
// An extended attribute of a file that has a temporary name, with that name's last part. Other
// files are thus not taken for one: neither a user's of such a name, nor a renamed one of ours.
constexpr const char* kMark = "user.isotherm";

/// A temporary name where a handler of a signal may read it. The state is released after the name
/// was written, and acquired before it is read.
struct standing_name {
  enum state { free, taken, readable };
  base::atomic<state> status{free};
  std::array<char, PATH_MAX> text{};
};
// A command writes one file and reports into two; a name beyond these only outlives a signal.
constinit std::array<standing_name, 4> standing_names;

void note_standing(const std::string& name) {
  for (standing_name& each : standing_names) {
    auto expected = standing_name::free;
    if (name.size() >= each.text.size()) return;
    if (!each.status.compare_exchange_acq_rel(expected, standing_name::taken)) continue;
    std::memcpy(each.text.data(), name.c_str(), name.size() + 1);
    each.status.store_release(standing_name::readable);
    return;
  }
}

void note_gone(const std::string& name) {
  for (standing_name& each : standing_names) {
    if (each.status.load_acquire() == standing_name::readable && name == each.text.data()) {
      each.status.store_release(standing_name::free);
    }
  }
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Returns a name of a fixed length, which fits wherever `path` does: it holds the last part of
/// `path` as a hash, so that the next command that writes `path` finds it.
std::string temporary_name(const std::string& path, unsigned i) {
  const std::string name = last_part(path);
  const std::uint64_t hash = XXH3_64bits(name.data(), name.size());  // the same in every build
  std::array<char, 48> last;
  std::snprintf(last.data(), last.size(), "/.isotherm-%016" PRIx64 "-%u", hash, i);
  return directory_of(path) + last.data();
}

/// Calls `make` with names beside `path` until one is free, which is put into `name`.
template <class Make>
auto with_free_name(const std::string& path, std::string& name, Make make) {
  for (unsigned i = 0;; ++i) {
    const std::string tried = temporary_name(path, i);
    auto made = make(tried);
    if (!made && made.error().code == EEXIST) continue;
    if (made) note_standing(name = tried);
    return made;
  }
}

/// If the file system cannot mark files, those of a killed process stay.
void mark(int descriptor, const std::string& name) {
  const std::string value = last_part(name);
  ::fsetxattr(descriptor, kMark, value.data(), value.size(), 0);
}

/// Whether the file was marked under this name.
bool marked(int descriptor, const std::string& name) {
  const std::string wanted = last_part(name);
  std::string value(wanted.size() + 1, '\0');
  const ssize_t n = ::fgetxattr(descriptor, kMark, value.data(), value.size());
  return n >= 0 && value.substr(0, static_cast<std::size_t>(n)) == wanted;
}

/// Whether `name` is this file's.
bool stands_at(int descriptor, const std::string& name) {
  struct stat ours;
  struct stat there;
  return ::fstat(descriptor, &ours) == 0 && ::lstat(name.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/// Locks a file for as long as it is open: this tells other processes that one works on it. False
/// if one does already. A file system without locks has nothing to tell.
bool lock(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/// A new file called `name`, locked and marked. One that another process took for abandoned before
/// it was locked counts as a name that is not free.
base::result<file> create_locked(const std::string& name) {
  auto f = file::create(name);
  if (!f) return f;
  if (lock(f->descriptor()) && stands_at(f->descriptor(), name)) {
    mark(f->descriptor(), name);
    return f;
  }
  return std::unexpected(base::system_error("cannot create " + name, EEXIST));
}

/// A process that is killed between two calls can leave a temporary name: the next that writes the
/// same file removes it. A file that is locked is in use and stays; so does one that cannot be
/// locked or is not marked, and `input` (may be null).
void remove_abandoned(const std::string& path, const file* input) {
  for (unsigned i = 0; i < kNamesLookedAt; ++i) {
    const std::string name = temporary_name(path, i);
    const int fd = ::open(name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    const bool read = input != nullptr && stands_at(input->descriptor(), name);
    if (!read && marked(fd, name) && ::flock(fd, LOCK_EX | LOCK_NB) == 0 && stands_at(fd, name)) {
      ::unlink(name.c_str());
    }
    ::close(fd);
  }
}

/// Checks that `target`, where `path` leads, is a regular file or not there.
base::result<void> check_replaceable(const std::string& path, const std::string& target) {
  const auto there = identity(target);
  if (!there && there.error().code != ENOENT) return std::unexpected(there.error());
  if (!there || there->regular) return {};
  return std::unexpected(
      base::error{path + " is not a regular file: name a file for the output", 0});
}

}  // namespace

void remove_incomplete_files() noexcept {
  for (standing_name& each : standing_names) {
    if (each.status.load_acquire() == standing_name::readable) ::unlink(each.text.data());
  }
}

pending_file::pending_file(pending_file&& other) noexcept
    : file_(std::move(other.file_)),
      target_(std::move(other.target_)),
      in_place_(other.in_place_),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

pending_file& pending_file::operator=(pending_file&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(target_, other.target_);
  std::swap(in_place_, other.in_place_);
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

pending_file::~pending_file() {
  if (temporary_.empty()) return;
  remove_file(temporary_);
  note_gone(temporary_);
}

base::result<pending_file> pending_file::create(const std::string& path,
                                                const std::string& directory, const file* input) {
  pending_file p;
  p.path_ = link_target(path);
  const bool stream = is_stream(p.path_);
  if (!stream) {
    if (auto r = check_replaceable(path, p.path_); !r) return std::unexpected(r.error());
  }
  p.in_place_ = !stream && is_mount_point(p.path_);
  if (stream || p.in_place_) {
    auto to = stream ? open_stream(path) : file::writable_in_place(p.path_);
    if (!to) return std::unexpected(to.error());
    auto f = file::unnamed(waiting_directory(path, directory));
    if (!f) return std::unexpected(f.error());
    p.target_ = std::move(*to);
    p.file_ = std::move(*f);
    return p;
  }
  remove_abandoned(p.path_, input);
  auto f = file::linkable(p.path_);
  if (f) {
    lock(f->descriptor());  // no other process knows the file
  } else if (f.error().code == EOPNOTSUPP) {
    f = with_free_name(p.path_, p.temporary_, create_locked);
  }
  if (!f) return std::unexpected(f.error());
  p.file_ = std::move(*f);
  if (auto r = take_attributes(p.file_, p.path_, kMark); !r) return std::unexpected(r.error());
  return p;
}

// The old contents stay until there is room for all of the new ones. From then on a stop would only
// leave a file of both.
base::result<void> pending_file::overwrite() const {
  const auto old = target_.size();
  const auto bytes = file_.size();
  if (!old) return std::unexpected(old.error());
  if (!bytes) return std::unexpected(bytes.error());
  auto room = *bytes > 0 ? target_.take_space(0, *bytes) : base::result<void>{};
  if (!room && room.error().code != EOPNOTSUPP) {
    if (auto r = target_.resize(*old); !r) return r;
    return room;
  }
  if (auto r = pour(file_, target_); !r) return r;
  return target_.resize(*bytes);
}

// A network file system tells of failed writes when a handle is closed, so one is before the file
// has its name; the other keeps the lock.
base::result<void> pending_file::publish(const std::stop_token& stop) {
  if (in_place_) return overwrite();
  if (target_) {
    auto to = target_.in_order(stop);
    return to ? pour(file_, *to) : std::unexpected(to.error());
  }
  auto other = file_.again();
  if (!other) return std::unexpected(other.error());
  if (auto r = other->close(); !r) return r;
  if (temporary_.empty()) {
    auto r = file_.link(path_);
    if (r || r.error().code != EEXIST) return r;
    r = with_free_name(path_, temporary_, [this](const std::string& name) {
      mark(file_.descriptor(), name);
      return file_.link(name);
    });
    if (!r) return r;
  }
  if (auto r = rename_file(temporary_, path_); !r) return r;
  ::fremovexattr(file_.descriptor(), kMark);  // one that stays does not fit the name
  note_gone(temporary_);
  temporary_.clear();
  return {};
}

base::result<void> pending_file::sync_name() const {
  if (target_) return in_place_ ? target_.sync() : base::result<void>{};
  auto r = sync_directory(directory_of(path_));
  if (r) return r;
  return std::unexpected(base::error{path_ +
                                         " is complete, but a crash of the system may still take "
                                         "its name: " +
                                         r.error().message,
                                     r.error().code});
}

}  // namespace isotherm::os
