// Sorting in memory of entries, and of whole records that are integers.
#pragma once

#include <cstdint>
#include <span>

#include "os/thread_pool.hpp"
#include "sort/input/entry.hpp"

namespace isotherm::sort {

/// Sorts entries as integers, on this thread.
void sort_entries(std::span<entry> entries);
/// Sort entries, or 64-bit integers, on up to `threads` threads of `pool`.
void sort_entries(std::span<entry> entries, os::thread_pool& pool, unsigned threads);
void sort_integers(std::span<std::uint64_t> integers, os::thread_pool& pool, unsigned threads);

}  // namespace isotherm::sort
