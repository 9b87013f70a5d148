// The spatially-aware memory allocator (SAMA, OBASE 3.4): every heap is one reserved
// contiguous range of addresses, so that an address tells its temperature.
//
//   NEW    freshly allocated, pattern unknown        jemalloc arena with extent hooks
//   HOT    accessed of late                          packed: exact sizes, appended
//   COLD   untouched for cold-threshold windows      packed, over a backing of the user's choice
//   NODE   index nodes, which hold guides            jemalloc arena, never moves
//
// An object has an 8-byte header (its size) before it, so that the collector can copy it without
// knowing its type. Everything here is thread-safe unless it says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "heap/kind.hpp"

namespace isotherm::heap {

/// Where COLD pages live when they leave DRAM.
struct cold_backing {
  enum class type : std::uint8_t { anon, file };
  type where = type::anon;
  std::string directory;  ///< for `file`: an existing directory on a disk file system

  /// Parses "anon" or "file:DIR".
  static base::result<cold_backing> parse(const std::string& text);
};

struct options {
  /// Address space reserved for each range, rounded to 2 MiB; halved (to 64 MiB at least) until the
  /// system grants it, and at most an eighth of RLIMIT_AS.
  std::size_t range_bytes = std::size_t{256} << 30;
  cold_backing cold;
  /// With COLD in a file: an object whose page the disk does not give back is lost alone
  /// (readable.hpp); else its reader ends with SIGBUS. Installs a handler for SIGBUS, which passes
  /// on what is not COLD's.
  bool catch_read_errors = false;
  bool huge_pages = false;  ///< MADV_HUGEPAGE on HOT and NODE, whose pages are in use as a whole
};

/// Reserves the ranges. Call at most once, before the first allocation; without it the first
/// allocation configures with the defaults. Fails on an unusable cold directory (missing, not
/// writable, tmpfs).
base::result<void> configure(const options& chosen);

/// Whether an object of HOT may take the room of one of its size that was freed, and whether its
/// own may be taken so afterwards. The other heaps pay no attention.
enum class recycling : std::uint8_t {
  allowed,  ///< for values that come and go
  none      ///< for the collector, which must not fill the extents that it empties
};

/// Memory for an object of `bytes` (0 allowed, < 4 GiB) in heap `where`, which is not NODE: 16-byte
/// aligned, at least 8 readable bytes, rounded up to words. Null when the heap is full (range
/// exhausted, or no space left for the backing).
void* allocate(kind where, std::size_t bytes, recycling room = recycling::allowed) noexcept;

/// Gives an object back. Any thread. Touches no page of an object in COLD. Aborts on what is not a
/// live object of NEW or HOT. Sanitizer builds poison it.
void deallocate(void* object, recycling room = recycling::allowed) noexcept;

/// Size given to allocate(). Reads the object's header, so it touches the object's page; 0 when
/// that cannot be read, and options::catch_read_errors holds.
std::size_t object_size(const void* object) noexcept;

/// Bytes that are free again after deallocate(): the size, in COLD up to 15 bytes more. Touches no
/// page of an object in COLD.
std::size_t room_of(const void* object) noexcept;

/// Memory for an index node of `bytes`; never moves. Aborts when memory is exhausted.
void* allocate_node(std::size_t bytes, std::size_t alignment = 16) noexcept;
/// As allocate_node(), filled with zeros; of big memory, pages never written cost nothing.
void* allocate_node_zeroed(std::size_t bytes) noexcept;
void deallocate_node(void* node) noexcept;

/// Half-open address range of a heap.
struct range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool contains(const void* p) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    return address >= begin && address < end;
  }
};
range range_of(kind where) noexcept;
/// Highest address used so far in the heap: pages lie in [range.begin, this).
std::uintptr_t used_end(kind where) noexcept;

/// Counters of one heap.
struct usage {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;         ///< sum of room_of() over the objects; of nodes, as rounded up
  std::uint64_t extent_bytes = 0;  ///< bytes of the extents that the heap holds
  /// Of the extents' bytes, those in DRAM: mapped pages and, for a file backing, page cache.
  std::uint64_t resident_bytes = 0;
};
/// Finding out what is in DRAM takes a walk over all pages of the heap.
enum class residency : std::uint8_t {
  measured,
  left_out  ///< `resident_bytes` stays 0
};
usage usage_of(kind where, residency resident = residency::measured);

inline constexpr double kSparseShare = 0.75;
/// True when the object lies in a packed extent whose live bytes fell under `live_share` of its
/// used bytes and that no longer takes allocations: worth evacuating. Does not touch the object.
bool is_sparse(const void* object, double live_share = kSparseShare) noexcept;
/// Live and used bytes of HOT or COLD, for deciding on compaction: dead = used - live.
struct packing {
  std::uint64_t live_bytes = 0, used_bytes = 0;
};
packing packing_of(kind where) noexcept;

/// An object of COLD was used: its pages are in DRAM, and may be asked to leave again. Any thread.
void note_cold_use(const void* object) noexcept;

/// How reclaim() asks for COLD pages to leave DRAM (OBASE 3.4; dirty file pages: see
/// reclaim.cpp).
enum class hint : std::uint8_t { none, cold, pageout };

struct reclaim_report {
  std::uint64_t bytes_asked = 0;  ///< bytes that were in DRAM of the extents that it was given for
  std::string problem;            ///< one line when the hint can't help (no swap), else empty
};
/// Gives `how` for COLD extents that were closed, or had an object used (note_cold_use()),
/// since they were last hinted, at most `limit_bytes`. With `pageout` also for some of the others,
/// other ones in each call, when pages of theirs are found in DRAM. One caller at a time (the
/// collector). Goes round the heap from call to call. An object larger than `limit_bytes` stays.
/// `stop` is asked before each MiB: once it says true the rest is left for another call.
reclaim_report reclaim_cold(
    hint how, std::uint64_t limit_bytes, const std::function<bool()>& stop = [] { return false; });

/// Allocations refused because a range or its disk was full, since start; of NODE, which aborts
/// instead, 0.
std::uint64_t refused_allocations(kind where) noexcept;
/// The errno of the last one that COLD's backing refused (ENOSPC, EDQUOT, EFBIG); 0: none did.
int cold_refusal_code() noexcept;

/// Gives the free pages of NEW and NODE, what the calling thread's caches keep of them, and the
/// room in HOT that waits for a next object, back to the system now; jemalloc does so by itself
/// within ten seconds or so of further allocation, not when the heap falls idle. Any thread; walks
/// the arenas.
void trim() noexcept;

/// After fork(): the child shares the COLD file with its parent and must neither grow nor punch it.
/// Nor may it dereference guides of COLD objects: the parent goes on changing the file.
void freeze_after_fork() noexcept;

/// Walks the packed heaps' extents; for debug builds and tests, no concurrent use.
bool is_valid();

}  // namespace isotherm::heap
