// Files. Every call can be made to fail by a test (os/faults.hpp), retries what the system asks to
// retry, and returns a sentence when it gives up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace isotherm::os {

/// The state of a file that changes when it is written.
struct file_state {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  ///< since 1970; a writer may set it back
  std::int64_t changed_ns = 0;   ///< since 1970; of the contents, the name or the permissions
  friend bool operator==(const file_state&, const file_state&) = default;
};

/// A part [begin, end) of a file.
struct file_part {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct pipe_ends;

/// An open file. Movable, closes itself. Reads and writes at offsets are safe from any thread.
class file {
 public:
  file() noexcept = default;
  file(file&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        path_(std::move(other.path_)),
        in_order_(std::move(other.in_order_)) {}
  file& operator=(file&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(path_, other.path_);
    std::swap(in_order_, other.in_order_);
    return *this;
  }
  ~file();

  static base::result<file> open(const std::string& path);
  /// Creates `path` for reading and writing; it must not exist.
  static base::result<file> create(const std::string& path);
  /// A file without a name in `directory`, called `purpose` in messages: gone when closed, whatever
  /// ends the process.
  static base::result<file> unnamed(const std::string& directory,
                                    const std::string& purpose = "a temporary file");
  /// A file without a name, called `path` in messages, that can be linked into the directory of
  /// `path`. Fails with EOPNOTSUPP on file systems that have no such files, and without /proc.
  static base::result<file> linkable(const std::string& path);
  /// Opens the existing file `path` for writing, with its contents as they are.
  static base::result<file> writable_in_place(const std::string& path);
  /// Opens the existing file or device `path` for shared mappings that are written.
  static base::result<file> for_mapping(const std::string& path);
  /// Another handle of what is open as `descriptor`, called `name` in messages.
  static base::result<file> of_descriptor(int descriptor, const std::string& name);
  /// A file that lies in memory, called `purpose` in messages: gone when closed.
  static base::result<file> in_memory(const std::string& purpose);
  /// A pipe, called `purpose` in messages. Its writing end is in_order().
  static base::result<pipe_ends> pipe(const std::string& purpose);
  /// Another handle of what is open here, a pipe, a terminal or a regular file, to which write()
  /// appends at its position, whatever the offset: writes must come in order. They end with an
  /// error of code EINTR when a stop is requested.
  base::result<file> in_order(const std::stop_token& stop) const;
  /// Whether it is such a handle.
  bool is_in_order() const noexcept { return in_order_.has_value(); }
  /// Lets a pipe hold as much as it may, so that its ends wait less often. A wish.
  void widen_pipe() const noexcept;
  /// Another handle of the same open file.
  base::result<file> again() const;
  /// Opens the file once more, for accesses past the page cache (O_DIRECT), of which reads write
  /// nothing (O_NOATIME).
  base::result<file> past_the_cache() const;

  /// Fills `target` from `offset`; an early end of the file is an error.
  base::result<void> read(std::span<std::byte> target, std::uint64_t offset) const;
  /// Reads up to `target.size()` bytes; fewer only at the end of the file.
  base::result<std::size_t> read_some(std::span<std::byte> target, std::uint64_t offset) const;
  base::result<void> write(std::span<const std::byte> source, std::uint64_t offset) const;
  /// Reads up to `target.size()` bytes, at least one, from the file's position on; none at its end.
  /// For pipes and terminals as well. A signal ends the wait with an error of code EINTR.
  base::result<std::size_t> read_next(std::span<std::byte> target) const;
  /// Writes up to `source.size()` bytes, at least one, at the file's position. Otherwise like
  /// read_next().
  base::result<std::size_t> write_next(std::span<const std::byte> source) const;
  /// Whether within `milliseconds` there is something to read, the end or an error included, for
  /// which read_next() does not wait. A signal ends the wait.
  base::result<bool> readable(int milliseconds) const;
  /// Like readable(), for write_next() of at most kNoWait bytes, or of any number to a regular
  /// file.
  base::result<bool> writable(int milliseconds) const;
  static constexpr std::size_t kNoWait = 4096;  // of a pipe that has room at all
  /// An error if it is no regular file.
  base::result<std::uint64_t> size() const;
  /// An error if it is no regular file.
  base::result<file_state> state() const;
  base::result<void> resize(std::uint64_t bytes) const;
  /// Takes disk space for [offset, offset + bytes), growing the file when needed: what is written
  /// there finds room. Beyond the limit of file sizes it fails with EFBIG, where a write is a
  /// signal.
  base::result<void> take_space(std::uint64_t offset, std::uint64_t bytes) const;
  /// Gives back the space of [offset, offset + bytes), which reads as zeros then.
  base::result<void> punch_hole(std::uint64_t offset, std::uint64_t bytes) const;
  /// Like punch_hole(), but without effect where the file system cannot.
  base::result<void> discard(std::uint64_t offset, std::uint64_t bytes) const;
  /// Returns the first part at or after `offset` that has room in the file system; nullopt when
  /// only a hole follows. Moves the file's position.
  base::result<std::optional<file_part>> data_from(std::uint64_t offset) const;
  /// Waits until all that was written is on the device.
  base::result<void> sync() const;
  /// Gives a linkable file the name `path`, which must be free.
  base::result<void> link(const std::string& path) const;
  /// Closes it; on some network file systems this is where a failed write is told.
  base::result<void> close();

  int descriptor() const noexcept { return fd_; }
  const std::string& path() const noexcept { return path_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  file(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  base::result<bool> ready(short events, int milliseconds) const;
  base::result<void> append(std::span<const std::byte> source) const;

  /// How write() appends.
  struct appending {
    std::size_t at_once;  ///< bytes that one call takes without waiting for a reader
    std::stop_token stop;
  };
  int fd_ = -1;
  std::string path_;
  std::optional<appending> in_order_;
};

struct pipe_ends {
  file reading;
  file writing;
};

}  // namespace isotherm::os
