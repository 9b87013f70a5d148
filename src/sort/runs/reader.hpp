// Reads one run from its file, entry by entry, through a window of memory.
#pragma once

#include <vector>

#include "os/files/file.hpp"
#include "os/thread_pool.hpp"
#include "sort/plan/context.hpp"
#include "sort/runs/run_places.hpp"

namespace isotherm::sort {

/// Contiguous bytes of a run.
struct run_segment {
  std::uint64_t offset = 0;  // in the file of its place
  std::uint64_t bytes = 0;
};

/// A sorted piece of an index map. Each entry or block lies in one segment.
struct run {
  run_place* place = nullptr;
  std::vector<run_segment> segments;
  std::uint64_t entries = 0;
  bool compressed = false;
};

/// Whether the file keeps the space of what was read, or gives it back as it is not read again.
enum class after_reading : std::uint8_t { keep, give_back };

class run_reader {
 public:
  /// Reads through `window`, which has at least kLeastWindow bytes and is aligned to 16. The
  /// arguments must outlive the reader.
  run_reader(const context& ctx, const run& r, std::span<std::byte> window, after_reading space);

  /// Reads the next entry; false behind the last, or after an error, which becomes the job's.
  bool next(entry& e) {
    if (compressed_) {
      if (block_at_ == block_end_ && !next_block()) return false;
      e = block_[block_at_++];
      return true;
    }
    if (end_ - at_ < packed_ && !fill(packed_)) return false;
    e = unpack(ctx_.layout.entries(), &window_[at_]);
    at_ += packed_;
    return true;
  }

  static constexpr std::size_t kLeastWindow = 32 << 10;

 private:
  bool fill(std::size_t needed);
  bool next_block();
  bool damaged();

  const context ctx_;
  const run& run_;
  const bool compressed_;
  const after_reading space_;
  const std::size_t packed_;
  std::span<entry> block_;  // the decoded block; empty if the run is not compressed
  std::size_t block_at_ = 0;
  std::size_t block_end_ = 0;
  std::span<std::byte> window_;
  std::size_t at_ = 0;   // byte of the next entry or block in the window
  std::size_t end_ = 0;  // bytes in the window
  std::size_t segment_ = 0;
  std::uint64_t read_ = 0;  // bytes of the current segment
};

/// The error that what was read from the temporary file `f` is not what was written to it.
base::error damage_of(const os::file& f);

/// Gives the space [from, to) of a file, which has been read, back to the file system: in whole
/// blocks, beginning with the first that lies wholly behind `first`, where the run or its segment
/// begins.
void give_back(job& j, const os::file& f, std::uint64_t first, std::uint64_t from,
               std::uint64_t to);

/// Reads [offset, offset + target.size()) of the input with the plan's pool of streams.
void pooled_read(const context& ctx, std::span<std::byte> target, std::uint64_t offset,
                 sort_stage stage);
/// The same of a file of runs, with the streams that its device wants.
void pooled_read(const context& ctx, const run_place& from, std::span<std::byte> target,
                 std::uint64_t offset, sort_stage stage);

}  // namespace isotherm::sort
