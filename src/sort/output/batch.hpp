// Records that are gathered in one output buffer, one behind the other, and written together.
#pragma once

#include <span>
#include <vector>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

class batch {
 public:
  explicit batch(const context& ctx) : ctx_(ctx) {}

  /// Takes entries from the front, as many as fit into a buffer with their records; returns how
  /// many. 0: the first record is larger than a buffer.
  std::size_t take(std::span<entry> entries);
  /// The entries taken; may be overwritten once no record is looked up by them any more.
  std::span<entry> entries() const noexcept { return entries_; }
  std::size_t size() const noexcept { return entries_.size(); }
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Offset in the buffer at which record `i` begins or, if `i` is size(), the last record ends.
  std::uint64_t start_of(std::size_t i) const noexcept {
    if (ctx_.layout.fixed()) return i * ctx_.layout.record_bytes();
    return i < starts_.size() ? starts_[i] : bytes_;
  }
  /// End of the piece that begins at record `begin` and has at most `bytes` bytes, or one record.
  /// Not beyond `end`.
  std::size_t end_of_piece(std::size_t begin, std::size_t end, std::uint64_t bytes) const;

 private:
  const context ctx_;
  std::span<entry> entries_;
  std::vector<std::uint32_t> starts_;  // offsets in the buffer; empty for fixed records
  std::uint64_t bytes_ = 0;
};

}  // namespace isotherm::sort
