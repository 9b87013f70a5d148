// Writes the records of entries that come in their final order, by the plan's concurrency model.
#pragma once

#include <span>

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread.hpp"
#include "sort/output/gather.hpp"

namespace isotherm::sort {

class output {
 public:
  /// `write_stage` is RUN write or MERGE write.
  output(const context& ctx, const os::file& out, sort_stage write_stage);
  ~output();

  /// Allocates the buffers; false after an error.
  bool reserve();
  /// Appends the records of `entries`, and may overwrite these. Errors become the job's.
  void emit(std::span<entry> entries);
  /// Waits until all is written.
  void finish();

  std::uint64_t bytes() const noexcept { return written_; }
  std::uint64_t records() const noexcept { return records_; }

 private:
  void unsynchronised();
  void copy_long(const extent& record);
  void copy_record_by(std::span<std::byte> room, const extent& record, std::uint64_t offset);
  void write(const std::byte* bytes, std::uint64_t count, std::uint64_t offset);
  void write_piece(std::span<const std::byte> piece, std::uint64_t offset);

  const context ctx_;
  const os::file& out_;
  const sort_stage write_stage_;
  batch batch_;
  gatherer gather_;
  os::buffer buffers_[2];
  unsigned turn_ = 0;
  std::uint64_t written_;
  std::uint64_t records_ = 0;
  os::thread writing_;  // io-overlap: writes the other buffer
};

}  // namespace isotherm::sort
