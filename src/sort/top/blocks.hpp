// The input in blocks of whole records, which several threads read in turn.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

class record_blocks {
 public:
  /// Prepares to read `ctx`'s input. A line longer than `most_bytes` ends the reading, as a klv
  /// record or a row larger than kThreadScratchBytes does.
  record_blocks(const context& ctx, std::uint64_t most_bytes)
      : ctx_(ctx), most_bytes_(most_bytes), at_(ctx.plan.header_bytes) {}

  struct block {
    std::uint64_t offset = 0;  ///< in the input
    std::span<const std::byte> bytes;
  };
  /// Reads the next block into `room`, for any thread; its last line has its end also where
  /// the input does not. Returns an empty block at the end of the input, after an error, which
  /// becomes the job's, and when read_all() has become false.
  block next(std::vector<std::byte>& room);
  /// Whether no record was too large for a block, or cut. Call when all threads have finished.
  bool read_all() const noexcept { return !gave_up_; }

 private:
  std::uint64_t end_of_block(std::vector<std::byte>& room);
  std::uint64_t end_of_line(std::uint64_t from);
  std::uint64_t end_of_row(std::vector<std::byte>& room);
  std::uint64_t end_of_klv(std::vector<std::byte>& room);
  bool read(std::vector<std::byte>& room, std::uint64_t offset, std::uint64_t bytes);

  const context ctx_;
  const std::uint64_t most_bytes_;
  std::mutex lock_;  // guards at_ and gave_up_
  std::uint64_t at_;
  bool gave_up_ = false;
};

}  // namespace isotherm::sort
