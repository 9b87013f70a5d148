// How a thread reaches a device: by calls, which charge an emulated device by themselves, or
// through mapped memory, of which it tells what it has touched. A real device needs no model: with
// none, calls go straight to the file and the rest costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "device/emulation.hpp"
#include "os/files/file.hpp"

namespace isotherm::device {

/// Threads that do a piece of work on a device together: they count as so many streams from before
/// the first of them begins until all have ended. Threads that this machine starts one after the
/// other, having fewer processors than the device has streams, would else be charged as few.
class stream_group {
 public:
  /// `device` may be null; it must outlive the group.
  stream_group(emulation* device, access kind, unsigned streams) noexcept;
  ~stream_group();
  stream_group(const stream_group&) = delete;
  stream_group& operator=(const stream_group&) = delete;

 private:
  friend class stream;
  emulation* device_;
  access kind_;
  unsigned streams_;
};

/// One thread's use of a device for one kind of access. Not thread-safe.
class stream {
 public:
  /// By itself: counts while it is open. `device` may be null; it must outlive the stream.
  stream(emulation* device, access kind) noexcept;
  /// One of a group's, which must outlive it.
  explicit stream(const stream_group& of) noexcept;
  ~stream();
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// file::read() and file::write(), which take as long as the device would. Errors are the file's;
  /// what failed is not charged.
  base::result<void> read(const os::file& from, std::span<std::byte> target, std::uint64_t offset);
  base::result<void> write(const os::file& to, std::span<const std::byte> source,
                           std::uint64_t offset);

  /// Says that this thread has touched `accesses` pieces of `bytes_each`, which if strided lie
  /// `stride` bytes apart, since begin(): waits until the device would have served them.
  void touched(std::uint64_t accesses, std::uint64_t bytes_each, std::uint64_t stride = 0) noexcept;
  /// From here on the thread's time counts as the device's. Without a call that is since the stream
  /// was made, or since the device served it last.
  void begin() noexcept;
  /// When the last access was served, by this stream's clock.
  double served_ns() const noexcept { return start_ns_; }

 private:
  void wait_until(double ns) noexcept;
  emulation* device_;
  access kind_;
  bool counts_;  // as a stream of its own
  double start_ns_ = 0;
  double overslept_ns_ = 0;  // the clock's, not the device's: given back at the next access
};

}  // namespace isotherm::device
