// A record whose bytes are in memory, and the order of such records.
#pragma once

#include <cstdint>
#include <span>

#include "sort/input/records.hpp"

namespace isotherm::sort {

/// A record in memory.
struct record_in_memory {
  entry place = 0;  ///< its entry in an index map
  const std::byte* first = nullptr;
  const std::byte* key_first = nullptr;  ///< in the record, or made of it (key_order)
  std::uint32_t bytes = 0;               ///< of the record, a line's end included
  std::uint32_t key_bytes = 0;
  std::uint64_t count = 1;  ///< how many records have its key, where keys come once

  std::span<const std::byte> key() const noexcept { return {key_first, key_bytes}; }
  bool is_key_made() const noexcept { return key_first < first || key_first >= first + bytes; }
  /// Bytes of memory that it takes: a key that was made lies behind its record.
  std::uint64_t room() const noexcept { return bytes + (is_key_made() ? key_bytes : 0); }
};

/// The order of two records' keys: negative, 0 or positive.
int compare_keys(const record_layout& layout, const record_in_memory& a,
                 const record_in_memory& b) noexcept;
/// The order of two records: of their keys and, where lines break ties, of the lines. 0: they may
/// stand in any order, or in the input's.
int compare_records(const record_layout& layout, const record_in_memory& a,
                    const record_in_memory& b) noexcept;
/// Whether `a` comes before `b` in the order, in which no two records are the same.
bool comes_before(const record_layout& layout, const record_in_memory& a,
                  const record_in_memory& b) noexcept;

}  // namespace isotherm::sort
