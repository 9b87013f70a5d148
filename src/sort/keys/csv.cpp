#include "sort/keys/csv.hpp"

#include <algorithm>

namespace isotherm::sort {
namespace {

/// Returns the length of a row without the carriage return at its end.
std::size_t text_length(bytes_view row) {
  return row.size() - (!row.empty() && row.back() == std::byte{'\r'});
}

/// Returns the end of the column that begins at `from`: the place of the delimiter or of the row's
/// end.
std::size_t end_of_column(bytes_view row, std::size_t from, std::byte delimiter) {
  std::size_t at = from;
  if (at < row.size() && row[at] == kQuote) {
    do {
      at = std::min(row.size(), find_byte(row, at + 1, kQuote) + 1);  // behind the next quote
    } while (at < row.size() && row[at] == kQuote);  // a doubled one
  }
  return find_byte(row, at, delimiter);
}

}  // namespace

part find_column(bytes_view row, unsigned column, std::byte delimiter) {
  row = row.first(text_length(row));
  for (std::size_t begin = 0;; --column) {
    const std::size_t end = end_of_column(row, begin, delimiter);
    if (column == 1) return {begin, end};
    if (end == row.size()) return {end, end};
    begin = end + 1;
  }
}

part find_columns_from(bytes_view row, unsigned column, std::byte delimiter) {
  return {find_column(row, column, delimiter).begin, text_length(row)};
}

bytes_view contents_of(bytes_view column, std::vector<std::byte>& room) {
  if (column.empty() || column.front() != kQuote) return column;
  const bytes_view quoted = column.subspan(1);
  std::size_t end = find_byte(quoted, 0, kQuote);
  if (end + 1 >= quoted.size()) return quoted.first(end);
  room.clear();
  const auto append = [&](bytes_view text) { room.insert(room.end(), text.begin(), text.end()); };
  std::size_t begin = 0;
  while (end + 1 < quoted.size() && quoted[end + 1] == kQuote) {
    append(quoted.subspan(begin, end + 1 - begin));
    begin = end + 2;
    end = find_byte(quoted, begin, kQuote);
  }
  append(quoted.subspan(begin, end - begin));
  if (end < quoted.size()) append(quoted.subspan(end + 1));
  return room;
}

std::vector<part> all_columns(bytes_view row, std::byte delimiter) {
  row = row.first(text_length(row));
  std::vector<part> all;
  for (std::size_t begin = 0; begin <= row.size(); begin = all.back().end + 1) {
    all.push_back({begin, end_of_column(row, begin, delimiter)});
  }
  return all;
}

}  // namespace isotherm::sort
