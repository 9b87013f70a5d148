// Address space: reserving ranges, making parts of them usable, giving pages back.
#pragma once

#include <cstddef>
#include <optional>

#include "base/error.hpp"

namespace isotherm::os {

/// Bytes of a page of the process (4096 on x86-64).
std::size_t page_bytes() noexcept;

/// RLIMIT_AS of the process; nullopt: no limit.
std::optional<std::size_t> address_space_limit() noexcept;

/// Reserves `bytes` of address space (no memory, no swap space) whose begin is a multiple of
/// `alignment`, a power of two of at least a page. Fails when RLIMIT_AS or the processor's address
/// space is used up.
base::result<std::byte*> reserve(std::size_t bytes, std::size_t alignment);

/// Makes a part of a reserved range readable and writable; pages appear when touched, zeroed.
base::result<void> commit(void* begin, std::size_t bytes);

/// Undoes commit(): the pages go, and a touch of them is a fault, unless the process has as many
/// mappings as it may have. Core dumps leave the part out from then on.
void decommit(void* begin, std::size_t bytes) noexcept;

/// Maps memory of at least `bytes`, zeroed; null where there is none. For release().
void* map_memory(std::size_t bytes) noexcept;
/// Changes the size of a mapping of map_memory(): pages move and are not copied. Returns where it
/// lies now; null, and nothing has changed, where there is no memory.
void* remap_memory(void* begin, std::size_t bytes, std::size_t wanted) noexcept;

/// Gives a range's address space back. Memory from reserve() or map_memory() must be released
/// whole or in page multiples. A range that the kernel cannot split from its neighbours, for want
/// of memory or of mappings, gives its pages back and keeps its addresses.
void release(void* begin, std::size_t bytes) noexcept;

/// Requests to madvise(2).
enum class advice {
  discard,   ///< MADV_DONTNEED: anonymous pages are lost and read as zero
  cold,      ///< MADV_COLD: first to go under pressure
  page_out,  ///< MADV_PAGEOUT: leave DRAM now, when there is swap
  huge,      ///< MADV_HUGEPAGE
  populate,  ///< MADV_POPULATE_READ: pages are in DRAM when it returns; fails where one cannot be
  populate_for_writing,  ///< MADV_POPULATE_WRITE: pages are present and the process's own; fails
                         ///< where one cannot be, and at a control group's limit of memory the
                         ///< kernel may kill the process instead
  left_out_of_dumps,     ///< MADV_DONTDUMP: a core dump has neither its content nor its width
};

/// madvise(2) over whole pages. Retries what the kernel may interrupt (EAGAIN, EINTR).
base::result<void> advise(void* begin, std::size_t bytes, advice wanted);

}  // namespace isotherm::os
