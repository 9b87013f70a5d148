// Reads and writes past the page cache: O_DIRECT, several at a time through io_uring, or one at a
// time where the kernel refuses io_uring (containers often do), or has none that reads and writes.
#pragma once

#include <liburing.h>

#include <cstdint>
#include <memory>
#include <span>

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"

namespace isotherm::device {

/// One thread's way to a file, with a buffer of its own. Not thread-safe; movable.
class direct_stream {
 public:
  enum class direction : std::uint8_t { read, write };
  /// Requests in flight at a time.
  static constexpr unsigned kDepth = 8;

  /// Opens the file of `f` once more, for accesses of `bytes`, a multiple of 4096. Fails where the
  /// file system has no O_DIRECT.
  static base::result<direct_stream> open(const os::file& f, std::size_t bytes);

  /// Whether requests go through io_uring.
  bool queued() const noexcept { return ring_ != nullptr; }
  /// Reads, or writes, at each of up to kDepth `offsets`, multiples of 4096.
  base::result<void> transfer(std::span<const std::uint64_t> offsets, direction way);

 private:
  struct closes_ring {
    void operator()(io_uring* ring) const noexcept {
      io_uring_queue_exit(ring);
      delete ring;
    }
  };
  base::result<void> submit(std::span<const std::uint64_t> offsets, direction way);

  os::file file_;
  std::size_t bytes_ = 0;
  os::buffer memory_;
  std::unique_ptr<io_uring, closes_ring> ring_;  // null: one at a time
};

}  // namespace isotherm::device
