// Records that go to the output together: through one buffer, one behind the other.
#pragma once

#include <span>
#include <vector>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

class batch {
 public:
  explicit batch(const context& ctx) : ctx_(ctx) {}

  /// Takes entries from the front, as many as a buffer has room for the records of; returns how
  /// many. 0: the first is larger than a buffer.
  std::size_t take(std::span<entry> entries);
  /// May be used as scratch once nobody asks for a record by its entry again.
  std::span<entry> entries() const noexcept { return entries_; }
  std::size_t size() const noexcept { return entries_.size(); }
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Where record `i` begins in the buffer: if there is none, where the last one ends.
  std::uint64_t start_of(std::size_t i) const noexcept {
    if (ctx_.layout.fixed()) return i * ctx_.layout.record_bytes();
    return i < starts_.size() ? starts_[i] : bytes_;
  }
  /// The end of the piece that begins at record `begin` and has at most so many bytes, or one
  /// record. No piece reaches beyond `end`.
  std::size_t end_of_piece(std::size_t begin, std::size_t end, std::uint64_t bytes) const;

 private:
  const context ctx_;
  std::span<entry> entries_;
  std::vector<std::uint32_t> starts_;  // of records that have no common size
  std::uint64_t bytes_ = 0;
};

}  // namespace isotherm::sort
