// Ends of records. A line ends at the next end of a line, a row of CSV at the next one that does
// not stand between double quotes. A quote opens a field only where it is the field's first
// character, as the modules of Python and Rust read CSV; in any other place it is a character like
// others.
#pragma once

#include <isotherm/sort.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sort/keys/csv.hpp"

namespace isotherm::sort {

/// Finds the ends of lines or rows in text that comes in pieces. For one thread.
class record_ends {
 public:
  /// Begins at the front of a record.
  explicit record_ends(const sort_options& options)
      : line_end_(options.line_end), delimiter_(delimiter_of(options)), csv_(options.csv) {}

  /// Returns the number of bytes of `text` up to the end of the record and with it; 0 if the record
  /// goes on behind `text`: the next call then takes what follows.
  std::size_t find(bytes_view text) {
    if (csv_) return find_row(text);
    const void* const end = std::memchr(text.data(), line_end_, text.size());
    return end == nullptr
               ? 0
               : static_cast<std::size_t>(static_cast<const std::byte*>(end) - text.data()) + 1;
  }
  /// Begins at the front of a record again.
  void restart() noexcept { at_ = place::field_begin; }
  /// Whether a quote was opened that is not closed yet.
  bool within_quotes() const noexcept { return at_ == place::quoted; }

 private:
  enum class place : std::uint8_t { field_begin, plain, quoted, behind_quote };
  std::size_t find_row(bytes_view text);
  std::size_t step_to_end(bytes_view text);

  char line_end_;
  std::byte delimiter_;
  bool csv_;
  place at_ = place::field_begin;
};

}  // namespace isotherm::sort
