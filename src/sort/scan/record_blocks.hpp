// The input in blocks of whole records, which several threads read in turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

class record_blocks {
 public:
  /// The most bytes of a block: sizes of records in memory have 32 bits (record_in_memory.hpp).
  static constexpr std::uint64_t kLongestRecord = std::uint64_t{1} << 31;

  /// Prepares to read `ctx`'s input in blocks of about `usual_bytes`. A record longer than that
  /// has a larger block; one longer than `most_bytes` (at most kLongestRecord) ends
  /// the reading.
  record_blocks(const context& ctx, std::uint64_t usual_bytes, std::uint64_t most_bytes)
      : ctx_(ctx),
        usual_bytes_(usual_bytes),
        most_bytes_(std::clamp(most_bytes, usual_bytes, kLongestRecord)),
        at_(ctx.plan.header_bytes) {}

  struct block {
    std::uint64_t offset = 0;  ///< in the input
    std::uint64_t end = 0;     ///< of its records, in the input
    std::span<const std::byte> bytes;
  };
  /// Reads the next block into `room`, for any thread; its last line has its end also where
  /// the input does not. Returns an empty block at the end of the input, after an error, which
  /// becomes the job's, and when read_all() has become false.
  block next(std::vector<std::byte>& room);
  /// Whether no record was too large for a block, or cut. Call when all threads have finished.
  bool read_all() const noexcept { return !gave_up_; }
  /// Returns the error that names the record for which read_all() is false.
  base::error unread() const;

 private:
  std::uint64_t end_of_block(std::vector<std::byte>& room);
  std::uint64_t end_in(std::vector<std::byte>& room);
  std::uint64_t end_of_rows(bytes_view block) const;
  std::uint64_t end_of_klv(bytes_view block) const;
  bool read(std::vector<std::byte>& room, std::uint64_t offset, std::uint64_t bytes);

  const context ctx_;
  const std::uint64_t usual_bytes_;
  const std::uint64_t most_bytes_;
  std::mutex lock_;  // guards at_ and gave_up_
  std::uint64_t at_;
  bool gave_up_ = false;
};

/// Returns the offset behind the first line of the input that ends at `from` or behind it; nothing
/// if none ends within `most_bytes`, and after an error, which becomes the job's. Requires: the
/// input holds lines.
std::optional<std::uint64_t> behind_line(const context& ctx, std::uint64_t from,
                                         std::uint64_t most_bytes);

}  // namespace isotherm::sort
