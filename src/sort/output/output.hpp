// Late materialisation: entries in their final order come in, records go out, values read at random
// only now. The concurrency models differ here.
#pragma once

#include <span>
#include <thread>
#include <vector>

#include "device/buffer.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

class output {
 public:
  /// `write_stage` is RUN write or MERGE write.
  output(const context& ctx, const device::file& out, sort_stage write_stage);
  ~output();

  bool reserve();
  /// Appends the records of `entries`, which may be used as scratch. Errors are the job's.
  void emit(std::span<entry> entries);
  /// Waits until all is written.
  void finish();

  std::uint64_t bytes() const noexcept { return written_; }
  std::uint64_t records() const noexcept { return records_; }

 private:
  std::size_t lay_out(std::span<const entry> entries);
  void copy_long(const extent& record);
  void copy_record_by(std::span<std::byte> room, const extent& record, std::uint64_t offset);
  void write_piece(std::span<const std::byte> piece, std::uint64_t offset);
  std::size_t end_of_piece(std::size_t begin, std::size_t end, std::uint64_t bytes) const;
  void put_keys(std::span<const entry> batch, std::byte* target) const;
  void gather(std::span<entry> batch, std::byte* target);
  void gather_slice(std::span<const entry> batch, std::size_t begin, std::size_t end,
                    std::byte* target, device::stream& stream);
  void copy_fixed(std::span<const entry> batch, std::size_t begin, std::size_t end,
                  std::byte* target) const;
  void gather_by_scan(std::span<entry> batch, std::byte* target);
  void write(const std::byte* bytes, std::uint64_t count, std::uint64_t offset);
  void unsynchronised(std::span<const entry> batch);
  void put(const extent& record, std::byte* target);
  void gather_by_place(std::span<const entry> batch, std::size_t begin, std::size_t end,
                       std::byte* target);
  std::uint64_t start_of(std::size_t i) const {
    return ctx_.layout.fixed() ? i * ctx_.layout.record_bytes() : starts_[i];
  }

  const context ctx_;
  const device::file& out_;
  const sort_stage write_stage_;
  device::buffer buffers_[2];
  unsigned turn_ = 0;
  std::vector<std::uint32_t> starts_;  // of each record of the batch, in its buffer
  std::uint64_t batch_bytes_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t records_ = 0;
  std::jthread writing_;  // io-overlap: the buffer before
};

/// Copies the whole input: it is in order already.
void copy_input(const context& ctx, const device::file& out);

}  // namespace isotherm::sort
