#include "sort/scan/record_blocks.hpp"

#include <fmt/format.h>

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
  if (!cut) return {begin, end, std::span(room).first(bytes)};
  room.resize(bytes);
  room.push_back(std::byte(ctx_.job.options.line_end));
  return {begin, end, room};
}

/// Returns the offset behind the block that begins at at_: at_ itself if no block holds the record
/// there, or after an error.
std::uint64_t record_blocks::end_of_block(std::vector<std::byte>& room) {
  const std::uint64_t wanted = std::min(usual_bytes_, ctx_.input.size() - at_);
  if (ctx_.job.options.csv || ctx_.job.options.format == record_format::klv) return end_in(room);
  if (ctx_.job.options.format == record_format::lines) {
    return behind_line(ctx_, at_ + wanted - 1, most_bytes_).value_or(at_);
  }
  const std::uint64_t record = ctx_.layout.record_bytes();
  return at_ + std::max<std::uint64_t>(1, wanted / record) * record;
}

/// Reads a block and returns the offset behind its last whole record. The block grows until it
/// holds one.
std::uint64_t record_blocks::end_in(std::vector<std::byte>& room) {
  const std::uint64_t rest = ctx_.input.size() - at_;
  for (std::uint64_t bytes = std::min(usual_bytes_, rest);; bytes = std::min(2 * bytes, rest)) {
    if (!read(room, at_, bytes)) return at_;
    const bytes_view block = std::span(room).first(bytes);
    const std::uint64_t n = ctx_.job.options.csv ? end_of_rows(block) : end_of_klv(block);
    if (n != 0 || bytes == rest || 2 * bytes > most_bytes_) return at_ + n;
  }
}

/// Returns the bytes of the rows at the front of `block` that end in it.
std::uint64_t record_blocks::end_of_rows(bytes_view block) const {
  const bool is_last = at_ + block.size() == ctx_.input.size();
  if (find_byte(block, 0, kQuote) == block.size()) {
    const void* const last = is_last ? &block.back() : ::memrchr(block.data(), '\n', block.size());
    if (last == nullptr) return 0;
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(last) - block.data()) + 1;
  }
  record_ends ends(ctx_.job.options);
  bytes_view rest = block;
  while (const std::size_t n = ends.find(rest)) rest = rest.subspan(n);
  // A quote that is never closed is refused where all records are sorted.
  return is_last && !ends.within_quotes() ? block.size() : block.size() - rest.size();
}

/// Returns the bytes of the whole records at the front of `block`.
std::uint64_t record_blocks::end_of_klv(bytes_view block) const {
  const std::uint64_t header = ctx_.layout.key_bytes() + sizeof(std::uint32_t);
  std::uint64_t end = 0;
  while (block.size() - end >= header) {
    const std::uint64_t value = klv_length(&block[end + ctx_.layout.key_bytes()]);
    if (value > block.size() - end - header) break;
    end += header + value;
  }
  return end;
}

base::error record_blocks::unread() const {
  return {fmt::format("the record at byte {} is cut, or longer than {} MiB: give more --memory for "
                      "longer ones",
                      at_, most_bytes_ >> 20),
          0};
}

bool record_blocks::read(std::vector<std::byte>& room, std::uint64_t offset, std::uint64_t bytes) {
  if (room.size() < bytes) room.resize(bytes);
  return ctx_.job.keep(ctx_.input.handle().read(std::span(room).first(bytes), offset));
}

std::optional<std::uint64_t> behind_line(const context& ctx, std::uint64_t from,
                                         std::uint64_t most_bytes) {
  std::array<std::byte, 4096> piece;
  for (std::uint64_t at = from; at < ctx.input.size(); at += piece.size()) {
    if (at - from > most_bytes || ctx.job.stopped()) return std::nullopt;
    const std::size_t n = std::min<std::uint64_t>(piece.size(), ctx.input.size() - at);
    if (!ctx.job.keep(ctx.input.handle().read(std::span(piece).first(n), at))) return std::nullopt;
    const void* found = std::memchr(piece.data(), ctx.job.options.line_end, n);
    if (found == nullptr) continue;
    return at + static_cast<std::uint64_t>(static_cast<const std::byte*>(found) - piece.data()) + 1;
  }
  return ctx.input.size();
}

}  // namespace isotherm::sort
