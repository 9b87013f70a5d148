// Plain arrays of numbers, and records in an order that is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "numbers.hpp"

namespace isotherm::python {

/// Writes the numbers of `from`, each of `width` bytes (1, 2, 4 or 8), to `to` in ascending order,
/// by all processors. Requires: both have the same size, and are aligned to `width`.
base::result<void> sort_numbers(number kind, unsigned width, std::span<const std::byte> from,
                                std::span<std::byte> to);

/// Writes the records of `from`, each of `record_bytes`, to `to`: first the one that has the first
/// number of `order`, by all processors. An error if a number lies beyond the records.
base::result<void> take_records(std::span<const std::byte> from, std::size_t record_bytes,
                                std::span<const std::uint64_t> order, std::span<std::byte> to);

}  // namespace isotherm::python
