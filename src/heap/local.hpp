// The state that a thread keeps for the heaps: its counters, its jemalloc cache of nodes, and the
// open extent that it appends to.
//
// Counters are plain per-thread sums: a live thread owns its line and adds without a locked
// instruction; a reader sums all lines. An object freed by another thread than the one that made
// it drives one line up and the other down: lines hold differences (modulo 2^64), only the sum
// means something, and it is exact once the threads are quiet. A line outlives its thread and is
// handed on with its sums.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "heap/kind.hpp"

namespace isotherm::heap {

struct alignas(base::kNoSharingBytes) counter_line {
  per_kind<base::atomic<std::uint64_t>> objects;
  per_kind<base::atomic<std::uint64_t>> bytes;
};

struct local_state {
  counter_line* counters;
  bool shared;           ///< counters belong to several threads: add atomically
  std::uint32_t shard;   ///< open extent that the thread appends to; moves on contention
  std::uint32_t spread;  ///< where it moves to; threads alive at one time have small, unlike ones
  int node_cache_flags;  ///< MALLOCX_TCACHE(...) of the NODE arena

  void count(kind where, std::uint64_t objects, std::uint64_t bytes) noexcept {
    add(counters->objects[where], objects);
    add(counters->bytes[where], bytes);
  }

 private:
  void add(base::atomic<std::uint64_t>& sum, std::uint64_t change) const noexcept {
    if (shared) [[unlikely]] {
      sum.fetch_add_relaxed(change);
    } else {
      sum.add_as_only_writer(change);
    }
  }
};

extern constinit thread_local local_state* this_thread_state;
/// Makes this thread's state; at thread exit the cache is flushed and the line is handed on.
/// Threads that find no memory for a line, and threads whose state is gone already, share one
/// without a cache.
local_state& make_local() noexcept;

inline local_state& local() noexcept {
  return this_thread_state != nullptr ? *this_thread_state : make_local();
}

/// Gives back what this thread's cache holds: a node in it keeps its whole slab.
void flush_node_cache() noexcept;

/// Sums over all threads of one heap.
struct counted {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
};
counted sum_counters(kind where) noexcept;

}  // namespace isotherm::heap
