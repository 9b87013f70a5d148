// Sequential output of whole records.
#pragma once

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Whether runs are read ahead, and one output buffer is written while the next is filled: as the
/// concurrency model of an emulated device says; otherwise unless the user wants no overlap.
inline bool overlaps(const context& ctx) noexcept {
  const sort_concurrency c = ctx.plan.concurrency;
  return ctx.job.emulation != nullptr ? c == sort_concurrency::io_overlap
                                      : c != sort_concurrency::no_io_overlap;
}

/// Collects records in one of two buffers and writes it when it is full.
class record_writer {
 public:
  /// Writes to `f` from `offset` on. The arguments must outlive it. Its time and progress count as
  /// `stage`; that of flush() and place() is taken from `outer`, the stage in which they are
  /// called.
  record_writer(const context& ctx, const os::file& f, sort_stage stage, sort_stage outer,
                std::uint64_t offset = 0)
      : ctx_(ctx), file_(f), stage_(stage), outer_(outer), offset_(offset) {}

  /// Allocates the buffers; false after an error.
  bool reserve();
  /// Space for the next `bytes` of output, at most a buffer, which the caller fills.
  std::byte* place(std::size_t bytes) {
    if (filled_ + bytes > ctx_.plan.output_buffer_bytes) flush();
    std::byte* at = buffers_[turn_].data() + filled_;
    filled_ += bytes;
    return at;
  }
  /// The free rest of the buffer. Threads may fill it together; taken() then tells how much.
  std::span<std::byte> room() {
    return {buffers_[turn_].data() + filled_, ctx_.plan.output_buffer_bytes - filled_};
  }
  void taken(std::size_t bytes) { filled_ += bytes; }
  /// Starts to write the buffer.
  void flush() { write(outer_); }
  /// Waits until all is written.
  void finish();
  /// Offset in the file of what comes next.
  std::uint64_t offset() const noexcept { return offset_ + filled_; }

 private:
  void write(sort_stage outer);

  const context ctx_;
  const os::file& file_;
  const sort_stage stage_;
  const sort_stage outer_;
  os::buffer buffers_[2];
  unsigned turn_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t offset_;  // of the buffer
  os::thread writing_;
};

}  // namespace isotherm::sort
