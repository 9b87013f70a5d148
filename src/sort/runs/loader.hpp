// The run phase's reading: fills the index map from the input, from keys alone or from whole
// records.
#pragma once

#include <vector>

#include "base/atomic.hpp"
#include "base/page.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// The keys of some fixed records in memory, `stride` bytes apart.
struct key_row {
  const std::byte* first;  ///< null after an error, which becomes the job's
  std::uint64_t stride;
};
/// How keys are read: with the records around them or, where records are large, alone.
enum class key_reading : std::uint8_t { in_records, alone };
/// Reads the keys of records [first, first + count): with the records, as always in a mapped input,
/// or alone, into `room`. Valid until the next call.
key_row read_keys(source_view& view, const record_layout& layout, key_reading how,
                  std::uint64_t first, std::uint64_t count, std::vector<std::byte>& room);
/// Keys are read alone if records have at least a page: a read by call moves whole pages.
constexpr key_reading key_reading_of(std::uint64_t record_bytes) noexcept {
  return record_bytes < base::kPageBytes ? key_reading::in_records : key_reading::alone;
}

/// Makes entries of the input's records, as many at a time as the index map holds.
class loader {
 public:
  explicit loader(const context& ctx) : ctx_(ctx), at_(ctx.plan.header_bytes) {}

  /// Fills the front of `target` with the next entries, in input order; returns how many. 0 at the
  /// end of the input, or on an error, which becomes the job's. Stops before a record that
  /// begins at offset `until` or behind it; of fixed records, `until` is the end of one.
  std::size_t load(std::span<entry> target, std::uint64_t until = ~std::uint64_t{0});
  /// Offset of the next record.
  std::uint64_t at() const noexcept { return at_; }
  bool at_end() const noexcept { return at_ >= ctx_.input.size(); }
  std::uint64_t records() const noexcept { return records_; }

 private:
  std::size_t load_fixed(std::span<entry> target, std::uint64_t until);
  std::size_t load_klv(std::span<entry> target, std::uint64_t until);
  std::size_t load_lines(std::span<entry> target, std::uint64_t until);
  entry take(const std::byte* record, std::uint64_t offset, std::uint64_t bytes);
  std::size_t refuse_open_quote(std::size_t n);
  std::size_t finish_line(std::uint64_t start, std::uint64_t end, entry& target);

  const context ctx_;
  std::uint64_t at_;  // offset of the next record
  std::uint64_t records_ = 0;
  base::atomic<std::uint64_t> done_{0};  // bytes of fixed records read; only for progress()
};

}  // namespace isotherm::sort
