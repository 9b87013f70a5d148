// Records in runs that hold the records themselves: fixed ones lie one behind the other; records of
// different sizes, or with counts, are framed. A frame is the number of bytes that follow its head
// in 2 bytes and, of a long record, where record and key lie in the input; for --count how many
// records it stands for; then the record. A key that is made of its line (key_order) lies before
// the line, behind its number of bytes in 2. A long record stays in the input, and its frame ends
// with the beginning of its key alone; where that key is made, it is made anew if more of it is
// asked for. The key takes the record's place if only keys are wanted (--count of fixed and klv
// records).
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// A record of a run, whose frame is in memory.
struct run_record {
  std::span<const std::byte> frame;  ///< as it lies in the run
  std::span<const std::byte> bytes;  ///< the record; of a long one the beginning of its key
  std::span<const std::byte> key;    ///< part of `frame`; of a long one the beginning
  std::uint64_t count = 1;           ///< records that it stands for
  extent long_record{0, 0};          ///< in the input; 0 bytes: the record is not a long one
  extent long_key{0, 0};             ///< of a long record; one that is made lies nowhere
};

/// Whole fixed records.
class fixed_format {
 public:
  explicit fixed_format(const context& ctx) : layout_(ctx.layout) {}

  /// The most bytes of a record in a run.
  std::size_t longest() const noexcept { return layout_.record_bytes(); }
  /// Finds the record at the front of `run`; false if it ends beyond.
  bool find(std::span<const std::byte> run, run_record& r) const noexcept {
    if (run.size() < layout_.record_bytes()) return false;
    r.frame = r.bytes = run.first(layout_.record_bytes());
    r.key = r.bytes.subspan(layout_.key_offset(), layout_.key_bytes());
    return true;
  }

 private:
  const record_layout& layout_;
};

/// Framed records of any format.
class framed_format {
 public:
  explicit framed_format(const context& ctx)
      : layout_(ctx.layout),
        counts_(ctx.job.options.count),
        count_bytes_(counts_ ? sizeof(std::uint64_t) : 0),
        made_(ctx.job.options.format == record_format::lines && ctx.layout.order().made()),
        keys_alone_(counts_ && ctx.job.options.format != record_format::lines) {}

  static constexpr std::size_t kHeadBytes = 2;   // also before a key that is made
  static constexpr std::size_t kLongest = 2048;  // bytes of a record that runs hold; a read of more
                                                 // by call costs less than moving them twice
  static constexpr std::size_t kKeptOfKey = 256;  // bytes, in the frame of a long record
  std::size_t longest() const noexcept { return kHeadBytes + count_bytes_ + kLongest; }
  bool find(std::span<const std::byte> run, run_record& r) const noexcept;

  /// Size of the frame of entry `e`.
  std::size_t size_of(entry e, source_view& input) const {
    const std::uint64_t made = made_ ? layout_.key(e, compared::key, input).size() : 0;
    const std::uint64_t n = held_of(layout_.locate(e, input).bytes, made);
    return kHeadBytes + count_bytes_ + (n > kLongest ? 2 * sizeof(extent) + kKeptOfKey : n);
  }
  /// Makes at `target` the frame of `e`, which stands for `count` records. Errors become the job's.
  void make(entry e, std::uint64_t count, std::byte* target, source_view& input) const;
  /// Changes the count in a frame; only for --count.
  void recount(std::span<std::byte> frame, std::uint64_t count) const noexcept {
    const bool is_long = (head_of(frame.data()) & kLong) != 0;
    std::memcpy(&frame[kHeadBytes + (is_long ? 2 * sizeof(extent) : 0)], &count, sizeof count);
  }

 private:
  static constexpr unsigned kLong = 1 << 15;  // in a head
  static unsigned head_of(const std::byte* frame) noexcept {
    std::uint16_t head = 0;
    std::memcpy(&head, frame, sizeof head);
    return head;
  }
  std::uint64_t held_of(std::uint64_t record_bytes, std::uint64_t made_bytes) const noexcept {
    if (made_) return kHeadBytes + made_bytes + record_bytes;
    return keys_alone_ ? layout_.key_bytes() : record_bytes;
  }

  const record_layout& layout_;
  const bool counts_;
  const std::size_t count_bytes_;  // in a frame
  const bool made_;                // keys are made of their lines
  const bool keys_alone_;
};

inline bool framed_format::find(std::span<const std::byte> run, run_record& r) const noexcept {
  if (run.size() < kHeadBytes) return false;
  const unsigned head = head_of(run.data());
  const std::size_t n = head & ~kLong;
  std::size_t at = kHeadBytes + (head & kLong ? 2 * sizeof(extent) : 0) + count_bytes_;
  if (run.size() < at + n || n - 1 >= kLongest) return false;  // no head says 0 or more
  r.frame = run.first(at + n);
  r.bytes = r.frame.subspan(at);
  if (counts_) std::memcpy(&r.count, &r.frame[at - 8], 8);
  r.long_record.bytes = 0;
  if (head & kLong) [[unlikely]] {
    std::memcpy(&r.long_record, &r.frame[kHeadBytes], sizeof(extent));
    std::memcpy(&r.long_key, &r.frame[kHeadBytes + sizeof(extent)], sizeof(extent));
    r.key = r.bytes.first(std::min<std::uint64_t>(n, r.long_key.bytes));
  } else if (made_) {
    const std::size_t key = head_of(r.bytes.data());
    if (kHeadBytes + key >= n) return false;
    r.key = r.bytes.subspan(kHeadBytes, key);
    r.bytes = r.bytes.subspan(kHeadBytes + key);
  } else {
    r.key = keys_alone_ ? r.bytes : layout_.key_in(r.bytes);
  }
  return true;
}

}  // namespace isotherm::sort
