// The order of rows by the values of columns: of Arrow's arrays, or of fields of arrays of records.
#pragma once

#include <isotherm/sort.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace isotherm::python {

/// How the values of a column are stored, and so compared.
enum class storage : std::uint8_t {
  natural,  ///< numbers of 1, 2, 4 or 8 bytes, little-endian; these four as numbers.hpp says
  integer,
  time,
  real,     ///< of 2, 4 or 8 bytes; -0 and 0 are equal
  decimal,  ///< two's complement of any size, little-endian
  bytes,    ///< byte strings of one size
  text      ///< byte strings of several sizes, between the offsets of Arrow
};

/// One key of the rows. All memory is the caller's. Rows without a value go last, and before them
/// NaN, whatever the direction.
struct column {
  storage kind = storage::natural;
  unsigned width = 8;                   ///< bytes of a value; of text, of an offset (4 or 8)
  std::uint64_t stride = 8;             ///< from a value to the next, of text from an offset
  const std::byte* values = nullptr;    ///< of the first row; of text, what offsets count from
  const std::byte* offsets = nullptr;   ///< of text: that of the first row
  const std::byte* validity = nullptr;  ///< a bit a row, 0 for no value; null: all have one
  std::uint64_t validity_offset = 0;    ///< bits before that of the first row
  bool descending = false;
};

/// Writes the numbers of the rows, from 0, in the order of `columns`, the first of which weighs
/// most. Equal rows keep their order. The keys are put together in memory, in front of an index map
/// of 16 bytes a row; `options` has the limit of memory, the progress and the stop.
base::result<void> order_rows(const std::vector<column>& columns, const sort_options& options,
                              std::span<std::uint64_t> order);

}  // namespace isotherm::python
