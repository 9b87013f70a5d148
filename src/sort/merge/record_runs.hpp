// Sorting lines, klv records, and fixed records of which not all are written, in limited memory.
// The input is read in pieces that fit in memory; each is sorted there and written as a run of
// records, and runs are merged as they are read, so that no record is looked up by its place.
// Equal keys that are wanted once (--unique) or counted come together in each run and in each
// merge.
#pragma once

#include "os/memory/buffer.hpp"
#include "sort/job/outcome.hpp"
#include "sort/merge/record_merge.hpp"

namespace isotherm::sort {

class record_runs {
 public:
  /// The context must outlive it. Does nothing unless planned().
  explicit record_runs(const context& ctx) : ctx_(ctx), format_(ctx), all_(ctx) {}
  ~record_runs() { ctx_.input.hold({}, 0); }
  record_runs(const record_runs&) = delete;
  record_runs& operator=(const record_runs&) = delete;

  bool planned() const noexcept { return ctx_.plan.piece_bytes != 0; }
  bool empty() const noexcept { return all_.runs.empty(); }
  /// Reads the piece of the input that begins at `offset` into memory. Returns the piece's end; the
  /// input's end if nothing is planned.
  std::uint64_t hold(std::uint64_t offset);
  /// Writes the records of `sorted` as a run. For --count, entries that are dropped add to the
  /// count of the entry before them.
  void append(std::span<const entry> sorted);
  /// Merges all runs into `out`, and reports in `o` what it has written. Frees the piece.
  void merge(const os::file& out, outcome& o);

 private:
  void write_part(const os::file& to, std::span<const entry> sorted, std::uint64_t begin,
                  std::uint64_t end, std::uint64_t offset);
  void merge_frames(record_writer& to, std::span<const record_run> some);
  void merge_last(record_writer& to, outcome& o);
  template <class Take>
  void merge_groups(std::span<const record_run> some, overlap how, after_reading space,
                    const Take& take);
  void put_from_input(const extent& all, record_writer& to);
  void put_text(const run_record& r, record_writer& to);
  void put(const run_record& r, record_writer& to);

  const context ctx_;
  const framed_format format_;
  os::buffer memory_;  // the piece; then the windows of a merge
  run_files all_;
};

}  // namespace isotherm::sort
