// Counting records by key (--count): of each key one group, of which nothing but the key is ever
// read. The output of binary formats is fixed records, the key and the count in 8 bytes
// little-endian; that of lines is lines, the count, a tab and the key.
#pragma once

#include "device/buffer.hpp"
#include "sort/output/sink.hpp"
#include "sort/runs/key_slots.hpp"

namespace isotherm::sort {

/// Writes one group for each key, in the order of the keys.
class group_counter final : public sink {
 public:
  group_counter(const context& ctx, const device::file& out, sort_stage write_stage,
                std::uint64_t records)
      : ctx_(ctx),
        view_(ctx.job, ctx.input),
        same_(ctx, sort_stage::record_read),
        out_(out),
        stage_(write_stage),
        records_(records) {}

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
  equal_keys same_;
  const device::file& out_;
  const sort_stage stage_;
  const std::uint64_t records_;  // that will come, at the most
  std::uint64_t seen_ = 0;
  device::buffer buffer_;
  std::size_t filled_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t keys_read_ = 0;       // and not yet charged to an emulated device
  std::uint64_t key_bytes_read_ = 0;  // likewise
  std::uint64_t groups_ = 0;          // written
  entry first_ = 0;                   // of the open group
  std::uint64_t count_ = 0;           // of the open group; 0: none is open
};

/// How the output of --count is read again: keys in order, none twice.
sort_options options_of_counts(const sort_options& counted);
/// The count of the group at `record` in such an output, whose bytes are `bytes`.
std::uint64_t count_of(const sort_options& counted, std::span<const std::byte> bytes);

}  // namespace isotherm::sort
