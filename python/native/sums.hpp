// Checksums of records, to be added up over files.
#pragma once

#include <isotherm/sort.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "sort/checksum.hpp"

namespace isotherm::python {

struct record_sum {
  std::uint64_t records = 0;
  sort::uint128 checksum = 0;
};

/// Returns the number of records in `bytes`, and the sum of the CRC-32 of each: that of records of
/// the benchmark is what valsort prints. Header lines do not count; a last line without its end is
/// summed with one. An error where a record ends behind `bytes`, or if `options` are being stopped.
base::result<record_sum> sum_records(std::span<const std::byte> bytes, const sort_options& options);

}  // namespace isotherm::python
