// Sorting fixed records that lie in memory one behind the other, by entries that point to them.
#pragma once

#include <cstddef>
#include <span>

#include "sort/input/records.hpp"

namespace isotherm::sort {

/// Order of two records by their keys: negative, 0 or positive.
int compare_records(const record_layout& layout, const std::byte* a, const std::byte* b) noexcept;

/// Makes index[i] the entry of record i, for i in [begin, end).
void take_keys(const record_layout& layout, std::span<const std::byte> records,
               std::span<entry> index, std::size_t begin, std::size_t end) noexcept;

/// Puts entries that are sorted as integers into the order of their records' whole keys.
void tell_apart(const record_layout& layout, std::span<const std::byte> records,
                std::span<entry> index);

}  // namespace isotherm::sort
