// How records of each format are found, compared and measured: the one place that knows formats. A
// record's pointer is its number (fixed) or its offset and length (klv, lines). The number or
// offset has 40 bits, so that inputs of up to 2^40 records or bytes can be sorted.
#pragma once

#include <isotherm/sort.hpp>

#include <array>
#include <cstring>
#include <optional>

#include "sort/input/entry.hpp"
#include "sort/input/source.hpp"
#include "sort/keys/key_order.hpp"
#include "sort/keys/record_number.hpp"

namespace isotherm::sort {

inline constexpr unsigned kLengthBits = 24;  // of the pointer of a klv record or line: the length,
                                             // in the low bits
inline constexpr std::uint64_t kLongRecord = 0xffffff;  // longer: see source::note_length()

/// The place of a record in the input.
struct extent {
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// Start of `field` (from 1) in a line: just behind the (field - 1)th separator, or the line's end.
std::size_t field_start(const std::byte* line, std::size_t bytes, char separator, unsigned field);

/// How many bytes at the front agree, of `n` at `a` and at `b`.
inline std::size_t common_prefix(const std::byte* a, const std::byte* b, std::size_t n) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    std::uint64_t x = 0;
    std::uint64_t y = 0;
    std::memcpy(&x, a + i, 8);
    std::memcpy(&y, b + i, 8);
    if (x != y) return i + static_cast<std::size_t>(__builtin_ctzll(x ^ y)) / 8;
  }
  while (i < n && a[i] == b[i]) ++i;
  return i;
}

/// Which bytes of a record are compared: its key or, to break ties of lines' fields, the whole
/// line.
enum class compared : std::uint8_t { key, line };

/// The key of a record, or its line: a part of the input, or made of it.
class record_key {
 public:
  explicit record_key(extent in_input) noexcept : at_(in_input) {}
  explicit record_key(bytes_view made) noexcept : at_{0, made.size()}, made_(made.data()) {}

  std::uint64_t size() const noexcept { return at_.bytes; }
  /// Returns the key's place in the input; of a key that is made only the size has a meaning.
  extent in_input() const noexcept { return at_; }
  /// The bytes [from, from + n) of the key; valid until the next use of `view`. Null after an
  /// error.
  const std::byte* bytes(source_view& view, std::uint64_t from, std::size_t n) const {
    return made_ != nullptr ? made_ + from : view.bytes(at_.offset + from, n);
  }
  /// All bytes of the key if they are in memory; otherwise null.
  const std::byte* at_hand(const source_view& view) const noexcept {
    return made_ != nullptr ? made_ : view.at_hand(at_.offset, at_.bytes);
  }

 private:
  extent at_;
  const std::byte* made_ = nullptr;
};

/// Knows where the keys of records lie and how they compare, by the options of one sort. Does not
/// change, so that all threads may use it.
class record_layout {
 public:
  explicit record_layout(const sort_options& options);

  const entry_layout& entries() const noexcept { return entries_; }
  bool fixed() const noexcept { return format_ == record_format::fixed; }
  char line_end() const noexcept { return line_end_; }
  /// The character between a count and the key in lines of --count.
  char count_end() const noexcept { return count_end_; }
  /// The order of lines.
  const key_order& order() const noexcept { return order_; }
  std::uint64_t record_bytes() const noexcept { return record_bytes_; }
  /// Whether an entry holds its whole record.
  bool keys_alone() const noexcept {
    return fixed() && key_bytes_ == record_bytes_ && key_bytes_ <= entries_.key_bytes;
  }
  /// Whether records are keys of at most 8 bytes and nothing else.
  bool integers() const noexcept { return keys_alone() && record_bytes_ <= sizeof(std::uint64_t); }
  std::uint64_t key_bytes() const noexcept { return key_bytes_; }
  std::uint64_t key_offset() const noexcept { return key_offset_; }

  /// The entry of fixed record `number`, whose key begins at `key`.
  entry fixed_entry(const std::byte* key, std::uint64_t number) const noexcept {
    entry high = load_key(key, entries_.used_key_bytes);
    if (number_) high = entry{number_->ordered(static_cast<std::uint64_t>(high >> 64))} << 64;
    return entries_.make(high, number);
  }
  /// The key bytes of `e`, a fixed record's, as they lie in the record, at the top.
  entry key_in_record(entry e) const noexcept {
    const entry high = entries_.reverse ? ~e : e;
    if (!number_) return high;
    return entry{number_->bytes(static_cast<std::uint64_t>(high >> 64))} << 64;
  }
  /// Changes the key of a fixed record so that its bytes order as the records do.
  void put_in_order(std::span<std::byte> key) const noexcept;
  /// Compares the keys of two fixed records, which begin at `a` and `b`.
  int compare_fixed(const std::byte* a, const std::byte* b) const noexcept;
  /// The entry of the klv record or line at [offset, offset + bytes) of the input, whose bytes
  /// begin at `record` in memory.
  entry variable_entry(const std::byte* record, std::uint64_t offset, std::uint64_t bytes) const;
  /// The entry of the line at [offset, offset + bytes), whose key of `key_bytes` begins at `key`.
  entry line_entry(const std::byte* key, std::uint64_t key_bytes, std::uint64_t offset,
                   std::uint64_t bytes) const;

  /// Whether an entry with the same key bytes as `e` may belong to a record with a different key.
  bool undecided(entry e) const noexcept;
  /// Whether undecided() may be true of any entry.
  bool often_undecided() const noexcept {
    return format_ == record_format::lines || key_bytes_ > entries_.key_bytes;
  }
  /// Whether whole lines break ties of their fields.
  bool ties_by_line() const noexcept { return whole_line_last_; }
  /// Compares two records, reading the input where their entries do not decide. Negative, 0 (the
  /// same record) or positive.
  int compare(entry a, entry b, source_view& input) const;
  /// Compares two records by their keys or lines, whose first `equal` bytes are known to be equal.
  int compare_keys(entry a, entry b, compared by, source_view& input,
                   std::uint64_t equal = 0) const;
  /// Whether the keys of two records are equal (as --unique asks).
  bool same_key(entry a, entry b, source_view& input) const;
  /// The key of `e`, or nothing if the entry lacks a part of it.
  struct short_key {
    std::array<std::byte, 16> bytes;
    std::size_t size;
  };
  std::optional<short_key> whole_key(entry e) const noexcept;
  /// The key or line of `e`, as `by` says. A key that has to be made lies in the view's room
  /// `which`; empty after an error.
  record_key key(entry e, compared by, source_view& input, unsigned which = 0) const;
  /// Returns the key of a line. Reads the line in pieces to find a key that is a part of it.
  record_key line_key(const extent& line, source_view& input, unsigned which = 0) const;
  /// The key of `e` as it stands in its record.
  record_key key_text(entry e, source_view& input) const;
  /// The key in the bytes of a record, a line with its end. Requires of lines: !order().made().
  std::span<const std::byte> key_in(std::span<const std::byte> record) const noexcept {
    if (format_ != record_format::lines) return record.subspan(key_offset_, key_bytes_);
    const part key = order_.find(record.first(record.size() - 1));
    return record.subspan(key.begin, key.end - key.begin);
  }

  /// Returns the place that the record of `e` had when the entry was made. Reads nothing.
  extent locate(entry e, const source_view& input) const;

 private:
  record_format format_;
  std::uint64_t record_bytes_;
  std::uint64_t key_bytes_;
  std::uint64_t key_offset_;
  std::optional<number_order> number_;
  key_order order_;
  char line_end_;
  char count_end_;
  bool whole_line_last_;  // ties of fields are broken by the whole line
  entry_layout entries_;
};

/// The length field of a klv header, read once from `field`: another process may change a mapped
/// input, and a compiler is free to read plain memory twice.
inline std::uint32_t klv_length(const std::byte* field) noexcept {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, field, sizeof bytes);
  asm volatile("" : "+r"(bytes));  // keeps the compiler from reading `field` again
  return bytes;
}

/// The number of records of the input: exact for fixed records, otherwise extrapolated from those
/// in the first MiB.
base::result<std::uint64_t> estimate_records(const source& in, const sort_options& o);

}  // namespace isotherm::sort
