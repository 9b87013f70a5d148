// Counting records by key (--count): one group for each key; of the records only keys are read. In
// binary formats a group is a fixed record, the key and the count in 8 bytes little-endian; for
// lines it is a line, the count, a tab and the key.
#pragma once

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "sort/output/sink.hpp"
#include "sort/runs/key_reads.hpp"

namespace isotherm::sort {

/// Writes one group for each key, in the order of the keys.
class group_counter final : public sink {
 public:
  group_counter(const context& ctx, const os::file& out, sort_stage write_stage,
                std::uint64_t records)
      : ctx_(ctx),
        view_(ctx.job, ctx.input),
        keys_(ctx, sort_stage::record_read),
        out_(out),
        stage_(write_stage),
        records_(records),
        written_(ctx.plan.output_header_bytes) {}

  bool reserve() override;
  void take(std::span<entry> sorted) override;
  bool full() const noexcept override;
  void finish(outcome& o) override;

 private:
  void close_group();
  void append(std::span<const std::byte> bytes);
  void charge_keys();
  void flush();

  const context ctx_;
  source_view view_;
  key_reads keys_;
  const os::file& out_;
  const sort_stage stage_;
  const std::uint64_t records_;  // the most that can come
  std::uint64_t seen_ = 0;
  os::buffer buffer_;
  std::size_t filled_ = 0;
  std::uint64_t written_;
  std::uint64_t keys_read_ = 0;       // not yet charged to an emulated device
  std::uint64_t key_bytes_read_ = 0;  // likewise
  std::uint64_t groups_ = 0;          // written so far
  entry first_ = 0;                   // first entry of the open group
  std::uint64_t count_ = 0;           // records of the open group; 0: none is open
};

/// Options with which the output of --count is read again: keys in order, none twice.
sort_options options_of_counts(const sort_options& counted);
/// The count of the group in `bytes`, read from such an output.
std::uint64_t count_of(const sort_options& counted, std::span<const std::byte> bytes);

}  // namespace isotherm::sort
