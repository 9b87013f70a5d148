// Columns of rows of CSV. Rows come without their line ends; a carriage return before the line end
// belongs to none of the columns.
#pragma once

#include <isotherm/sort.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

#include "sort/keys/fields.hpp"

namespace isotherm::sort {

inline constexpr char kComma = ',';
inline constexpr std::byte kQuote{'"'};

/// Returns the character between the columns of rows.
inline std::byte delimiter_of(const sort_options& o) noexcept {
  return static_cast<std::byte>(o.separator.value_or(kComma));
}

/// Returns the place of `b` in `text` behind the first `from` bytes; the size of `text` if none.
inline std::size_t find_byte(bytes_view text, std::size_t from, std::byte b) noexcept {
  if (from >= text.size()) return text.size();
  const void* const found = std::memchr(&text[from], std::to_integer<int>(b), text.size() - from);
  return found == nullptr
             ? text.size()
             : static_cast<std::size_t>(static_cast<const std::byte*>(found) - text.data());
}

/// Finds a column, counted from 1, as it stands in `row`, with its quotes. A row with fewer
/// columns gives the empty text at its end.
part find_column(bytes_view row, unsigned column, std::byte delimiter);
/// Finds all columns from one on, with the delimiters between them.
part find_columns_from(bytes_view row, unsigned column, std::byte delimiter);
/// Returns the contents of a column that find_column() has found: a part of it or, if they have
/// doubled quotes, a copy in `room`.
bytes_view contents_of(bytes_view column, std::vector<std::byte>& room);

/// Finds all columns of a row.
std::vector<part> all_columns(bytes_view row, std::byte delimiter);

}  // namespace isotherm::sort
