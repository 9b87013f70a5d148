// Runs of an index map that does not fit in memory: written one behind the other to the files of
// the plan's directories, packed or compressed, and merged, on several levels when there are more
// runs than read buffers. A merge that writes a new run gives back the space of what it has read,
// so that the files never take much more than the index map does.
#pragma once

#include <functional>
#include <vector>

#include "os/files/file.hpp"
#include "sort/coding/policy.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"
#include "sort/runs/reader.hpp"

namespace isotherm::sort {

class run_file {
 public:
  explicit run_file(const context& ctx) : ctx_(ctx), places_(ctx) {}

  /// Writes one sorted run.
  void append(std::span<const entry> sorted);
  const std::vector<run>& runs() const noexcept { return runs_; }
  const run_totals& totals() const noexcept { return totals_; }
  const run_places& places() const noexcept { return places_; }

  /// Merges runs until one merge can take all. `buffer` is its memory.
  void reduce(std::span<std::byte> buffer);
  using taker = std::function<void(std::span<entry>)>;
  /// Merges all runs, and calls `take` with the entries in order, up to `piece.size()` at a time.
  void merge(std::span<std::byte> buffer, std::span<entry> piece, const taker& take);

 private:
  void merge_some(std::span<const run> some, std::span<std::byte> buffer, std::span<entry> piece,
                  after_reading space, const taker& take);
  std::uint64_t most_bytes(const run& r, std::uint64_t entries) const;
  bool place(run& r, std::uint64_t entries);
  bool should_compress(std::span<const entry> sorted);
  void write(std::span<const entry> sorted, run& to);
  void write_packed(std::span<const entry> sorted, run& to);
  void write_compressed(std::span<const entry> sorted, run& to);

  const context ctx_;
  run_places places_;
  std::vector<run> runs_;
  run_totals totals_;
};

/// Writes `bytes` at `offset` of the output `f` with the plan's pool of streams.
void pooled_write(const context& ctx, const os::file& f, std::span<const std::byte> bytes,
                  std::uint64_t offset, sort_stage stage);
/// The same, to a file of a device.
void pooled_write(const context& ctx, const device_use& on, const os::file& f,
                  std::span<const std::byte> bytes, std::uint64_t offset, sort_stage stage);

}  // namespace isotherm::sort
