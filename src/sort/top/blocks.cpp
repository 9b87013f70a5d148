#include "sort/top/blocks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "sort/keys/csv.hpp"
#include "sort/keys/record_ends.hpp"

namespace isotherm::sort {

// The lock is held only while the end of the block is looked for, so that threads read at the same
// time. The end of a block of klv records or of rows is known only when all of it has been read.
record_blocks::block record_blocks::next(std::vector<std::byte>& room) {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  {
    const std::lock_guard guard(lock_);
    if (at_ >= ctx_.input.size() || gave_up_ || ctx_.job.stopped()) return {};
    begin = at_;
    at_ = end = end_of_block(room);
    gave_up_ = end == begin;
    if (gave_up_) return {};
    ctx_.job.progress(sort_stage::run_read, end, ctx_.input.size());
  }
  const std::uint64_t bytes = end - begin;
  const bool is_read = ctx_.job.options.format == record_format::klv || ctx_.job.options.csv;
  if (!is_read && !read(room, begin, bytes)) return {};
  ctx_.job.count(sort_stage::run_read, bytes, 0);
  const bool cut = end == ctx_.input.size() && ctx_.job.options.format == record_format::lines &&
                   room[bytes - 1] != std::byte(ctx_.job.options.line_end);
  if (!cut) return {begin, std::span(room).first(bytes)};
  room.resize(bytes);
  room.push_back(std::byte(ctx_.job.options.line_end));
  return {begin, room};
}

/// Returns the offset behind the block that begins at at_: at_ itself if no block holds the record
/// there, or after an error.
std::uint64_t record_blocks::end_of_block(std::vector<std::byte>& room) {
  const std::uint64_t wanted =
      std::min<std::uint64_t>(kThreadScratchBytes, ctx_.input.size() - at_);
  if (ctx_.job.options.csv) return end_of_row(room);
  if (ctx_.job.options.format == record_format::lines) return end_of_line(at_ + wanted);
  if (ctx_.job.options.format == record_format::klv) return end_of_klv(room);
  const std::uint64_t record = ctx_.layout.record_bytes();
  return at_ + std::max<std::uint64_t>(1, wanted / record) * record;
}

/// Returns the offset behind the first line that ends at `from` or behind it.
std::uint64_t record_blocks::end_of_line(std::uint64_t from) {
  std::array<std::byte, 4096> piece;
  for (std::uint64_t at = from - 1; at < ctx_.input.size(); at += piece.size()) {
    if (at - at_ > most_bytes_ || ctx_.job.stopped()) return at_;
    const std::size_t n = std::min<std::uint64_t>(piece.size(), ctx_.input.size() - at);
    if (!ctx_.job.keep(ctx_.input.handle().read(std::span(piece).first(n), at))) return at_;
    const void* found = std::memchr(piece.data(), ctx_.job.options.line_end, n);
    if (found == nullptr) continue;
    return at + static_cast<std::uint64_t>(static_cast<const std::byte*>(found) - piece.data()) + 1;
  }
  return ctx_.input.size();
}

/// Reads a block of rows and returns the offset behind the last that ends in it.
std::uint64_t record_blocks::end_of_row(std::vector<std::byte>& room) {
  const std::uint64_t bytes = std::min<std::uint64_t>(kThreadScratchBytes, ctx_.input.size() - at_);
  if (!read(room, at_, bytes)) return at_;
  const bytes_view block = std::span(room).first(bytes);
  const bool is_last = at_ + bytes == ctx_.input.size();
  if (find_byte(block, 0, kQuote) == block.size()) {
    const void* const last = is_last ? &block.back() : ::memrchr(block.data(), '\n', block.size());
    if (last == nullptr) return at_;
    return at_ + static_cast<std::uint64_t>(static_cast<const std::byte*>(last) - block.data()) + 1;
  }
  record_ends ends(ctx_.job.options);
  bytes_view rest = block;
  while (const std::size_t n = ends.find(rest)) rest = rest.subspan(n);
  // A quote that is never closed is refused where all records are sorted.
  return is_last && !ends.within_quotes() ? ctx_.input.size() : at_ + bytes - rest.size();
}

/// Reads a block and returns the offset behind its last whole record.
std::uint64_t record_blocks::end_of_klv(std::vector<std::byte>& room) {
  const std::uint64_t header = ctx_.layout.key_bytes() + sizeof(std::uint32_t);
  const std::uint64_t bytes = std::min<std::uint64_t>(kThreadScratchBytes, ctx_.input.size() - at_);
  if (!read(room, at_, bytes)) return at_;
  std::uint64_t end = 0;
  while (bytes - end >= header) {
    const std::uint64_t value = klv_length(&room[end + ctx_.layout.key_bytes()]);
    if (value > bytes - end - header) break;
    end += header + value;
  }
  return at_ + end;
}

bool record_blocks::read(std::vector<std::byte>& room, std::uint64_t offset, std::uint64_t bytes) {
  if (room.size() < bytes) room.resize(bytes);
  return ctx_.job.keep(ctx_.input.handle().read(std::span(room).first(bytes), offset));
}

}  // namespace isotherm::sort
