// Memory that the ordinary allocator, jemalloc, keeps for later allocations.
#pragma once

#include <chrono>
#include <cstdint>

namespace isotherm::heap {

/// Bytes of pages that jemalloc could give back to the system at once: nothing lies in them. NODE's
/// are among them. Any thread; of the order of 20 us. 0 where another allocator serves the program.
std::uint64_t allocator_free_bytes() noexcept;
/// Bytes of DRAM that jemalloc takes beyond those that it has handed out: these pages, holes in
/// others, and its bookkeeping. Any thread; as above.
std::uint64_t allocator_overhead_bytes() noexcept;

/// Gives these pages back now, and first the blocks that the calling thread keeps. Any thread; time
/// in proportion to the number of free extents.
void purge_allocator() noexcept;

/// From now on a thread of jemalloc gives pages back `within` so long after they came free, also
/// those of threads that allocate nothing any more: without it they stay. For a program, at its
/// start: it changes how the whole process allocates. Not where is_allocator_ours() is false. False
/// where the system gives no thread.
bool give_free_pages_back(std::chrono::milliseconds within) noexcept;

/// Whether malloc() is jemalloc's: not where another allocator was preloaded.
bool is_allocator_ours() noexcept;

}  // namespace isotherm::heap
