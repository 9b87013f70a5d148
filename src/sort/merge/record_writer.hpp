// Sequential output of whole records.
#pragma once

#include <cstdint>

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread.hpp"
#include "sort/plan/context.hpp"
#include "sort/runs/run_places.hpp"

namespace isotherm::sort {

/// Whether reads and writes of a merge wait for each other.
enum class overlap : std::uint8_t {
  none,
  beside  ///< runs are read ahead, and one output buffer is written while the next is filled
};

/// For reads and writes of one device: as the concurrency model of an emulated device says;
/// otherwise beside, unless the user wants no overlap.
inline overlap overlap_of(const context& ctx) noexcept {
  const sort_concurrency c = ctx.plan.concurrency;
  const bool beside = ctx.job.emulation != nullptr ? c == sort_concurrency::io_overlap
                                                   : c != sort_concurrency::no_io_overlap;
  return beside ? overlap::beside : overlap::none;
}

/// For accesses to runs, and those to input or output in the other direction.
inline overlap overlap_with_runs(const context& ctx) noexcept {
  return ctx.plan.runs_apart ? overlap::beside : overlap_of(ctx);
}

/// Collects records in one of two buffers and writes it when it is full.
class record_writer {
 public:
  /// Writes to the output `f` from `offset` on. The arguments must outlive it. Its time and
  /// progress count as `stage`; that of flush() and place() is taken from `outer`, the stage in
  /// which they are called.
  record_writer(const context& ctx, const os::file& f, sort_stage stage, sort_stage outer,
                std::uint64_t offset = 0)
      : ctx_(ctx),
        file_(&f),
        on_(main_use(ctx.plan, ctx.job.emulation)),
        overlap_(overlap_with_runs(ctx)),
        stage_(stage),
        outer_(outer),
        offset_(offset) {}
  /// Writes runs, the first of them to `to`.
  record_writer(const context& ctx, const run_place& to, overlap how, sort_stage stage,
                sort_stage outer)
      : ctx_(ctx),
        file_(&to.file),
        on_(to.at.use),
        overlap_(how),
        stage_(stage),
        outer_(outer),
        offset_(to.end) {}

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
  /// Writes what comes next to `to`.
  void go_to(const run_place& to);
  /// Starts to write the buffer.
  void flush() { write(outer_); }
  /// Waits until all is written.
  void finish();
  /// Offset in the file of what comes next.
  std::uint64_t offset() const noexcept { return offset_ + filled_; }

 private:
  void write(sort_stage outer);

  const context ctx_;
  const os::file* file_;
  device_use on_;  // its device's
  const overlap overlap_;
  const sort_stage stage_;
  const sort_stage outer_;
  os::buffer buffers_[2];
  unsigned turn_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t offset_;  // of the buffer
  os::thread writing_;
};

}  // namespace isotherm::sort
