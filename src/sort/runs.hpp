// Runs of an index map that does not fit: written packed, one behind the other, to a file without a
// name, and merged, several levels deep when there are more runs than read buffers.
#pragma once

#include <functional>
#include <vector>

#include "device/buffer.hpp"
#include "sort/job.hpp"
#include "sort/plan.hpp"
#include "sort/records.hpp"

namespace isotherm::sort {

struct run {
  std::uint64_t offset = 0;  // in the run file
  std::uint64_t entries = 0;
};

class run_file {
 public:
  run_file(job& j, const plan& p, const record_layout& layout)
      : job_(j), plan_(p), layout_(layout) {}
  bool create(const std::string& directory);

  /// Writes one sorted run.
  void append(std::span<const entry> sorted);
  const std::vector<run>& runs() const noexcept { return runs_; }
  /// Runs written by now, merged ones included.
  std::uint64_t written() const noexcept { return written_; }

  /// Merges runs until one merge is enough for all. `buffer` is the memory for it.
  void reduce(std::span<std::byte> buffer, const source& in);
  /// Hands out the merged entries of all runs in order, in pieces of up to `piece.size()`.
  void merge(std::span<std::byte> buffer, const source& in, std::span<entry> piece,
             const std::function<void(std::span<entry>)>& take);

 private:
  void merge_some(std::span<const run> some, std::span<std::byte> buffer, const source& in,
                  std::span<entry> piece, const std::function<void(std::span<entry>)>& take);
  void write_packed(std::span<const entry> sorted, std::uint64_t offset);

  job& job_;
  const plan& plan_;
  const record_layout& layout_;
  device::file file_;
  std::vector<run> runs_;
  std::uint64_t end_ = 0;
  std::uint64_t written_ = 0;
};

/// Reads [offset, offset + target.size()) of `f` with a pool of streams.
void pooled_read(job& j, unsigned threads, const device::file& f, std::span<std::byte> target,
                 std::uint64_t offset, sort_stage stage);
/// Writes likewise.
void pooled_write(job& j, unsigned threads, const device::file& f, std::span<const std::byte> bytes,
                  std::uint64_t offset, sort_stage stage);

}  // namespace isotherm::sort
