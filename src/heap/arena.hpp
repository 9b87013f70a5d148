// NODE: a jemalloc arena whose extents are carved from one reserved range (the papers' SAMA
// is built on jemalloc's extent management, OBASE 4.1).
//
// The hooks only ever carve upwards. Extents that jemalloc has emptied stay with its arena: the
// dalloc hook refuses to take them. The arena purges their pages by MADV_DONTNEED, merges
// neighbours, and serves later requests from them, oldest and lowest first, before it asks for
// more. The free list of the range is thus jemalloc's alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/error.hpp"

namespace isotherm::heap {

struct hook_table;

class arena {
 public:
  static const int kNoCache;  ///< as `cache_flags`: without a thread's cache

  arena() noexcept = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Makes the arena over [begin, begin + bytes), reserved and not accessible. Called once, before
  /// any other function; the arena lives as long as the process.
  base::result<void> open(std::byte* begin, std::size_t bytes);

  /// 16-byte aligned (or `alignment`, a power of two), or null when the range is full.
  /// `cache_flags` is this thread's cache for this arena. Any thread.
  void* allocate(std::size_t bytes, std::size_t alignment, int cache_flags) noexcept;
  /// Like allocate() with the least alignment, filled with zeros; pages that were never used are
  /// not touched.
  void* allocate_zeroed(std::size_t bytes, int cache_flags) noexcept;
  /// `bytes` as usable_bytes() says. Any thread.
  void deallocate(void* block, std::size_t bytes, int cache_flags) noexcept;

  /// Bytes that jemalloc rounded a block up to.
  static std::size_t usable_bytes(const void* block) noexcept;
  /// Bytes that jemalloc rounds a request for `bytes` with `alignment` up to.
  static std::size_t rounded_bytes(std::size_t bytes, std::size_t alignment) noexcept;

  /// End of what was carved so far.
  std::uintptr_t used_end() const noexcept;
  /// Carved bytes that hold objects or wait to be reused without a system call.
  std::uint64_t mapped_bytes() const noexcept;
  /// Bytes of pages that hold objects; 0 where jemalloc does not tell. Takes a load.
  std::uint64_t active_bytes() const noexcept;
  /// Gives every wholly free page back to the system now.
  void purge() noexcept;
  /// Keeps free pages from now on, so that time has no part in the addresses of new objects.
  void keep_free_pages() noexcept;

  /// The extent hooks' part: `bytes` at a multiple of `alignment`, committed, or null.
  void* carve(std::size_t bytes, std::size_t alignment) noexcept;

 private:
  hook_table* hooks_ = nullptr;  // jemalloc's for good; here too, where the leak checker finds it
  std::byte* begin_ = nullptr;
  std::byte* end_ = nullptr;
  unsigned index_ = 0;
  std::size_t* active_pages_ = nullptr;  // jemalloc's
  std::size_t page_bytes_ = 0;
  // Carved bytes. A relaxed counter suffices: what is carved is disjoint, and jemalloc's locks
  // publish it.
  base::atomic<std::size_t> carved_{0};
};

}  // namespace isotherm::heap
