// NEW, HOT and COLD: objects of exact sizes, appended one behind the other. A size-class allocator
// rounds a 1054-byte object up to 1280, which alone caps page utilization at 82%; here the loss is
// under 16 bytes an object, and in COLD's file what gap_before() leaves. A hole in a dense extent
// of NEW or HOT takes the next object of its size (holes.hpp); beyond that holes are not refilled:
// the collector, which can move anything, evacuates sparse extents, and an empty extent goes back
// to the system as a whole.
//
//   extents_   the range's extents, which of them are taken     extent_table.hpp
//   open_      the extents being appended to                    two; more under contention only
//   holes_     room of freed objects, of NEW and HOT            holes.hpp
//   cold_      extents whose pages leave DRAM, of COLD          cold_extents.hpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/atomic.hpp"
#include "base/error.hpp"
#include "heap/local.hpp"
#include "heap/object.hpp"
#include "heap/packed/backing.hpp"
#include "heap/packed/cold_extents.hpp"
#include "heap/packed/extent.hpp"
#include "heap/packed/extent_table.hpp"
#include "heap/packed/holes.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::heap {

class packed_heap {
 public:
  packed_heap() noexcept = default;
  packed_heap(const packed_heap&) = delete;
  packed_heap& operator=(const packed_heap&) = delete;

  /// The treatment of a freed object's room.
  enum class freed_room : unsigned char {
    recycled,  ///< kept for objects that ask for it: NEW, HOT
    left       ///< stays until its extent is empty, and freeing touches no page: COLD, cold()
  };
  /// Takes a reserved range of whole extents. Once, before any other call.
  base::result<void> open(std::byte* begin, std::size_t bytes, std::unique_ptr<backing> pages,
                          freed_room treatment);

  /// Payload for `bytes`, header written; null when range or disk is full. Any thread.
  void* allocate(std::size_t bytes, recycling room, band among, local_state& mine) noexcept;
  /// Returns the band of an object's extent.
  /// Requires: the object lives, or did when the caller's scope was opened.
  band band_of(const void* object) const noexcept {
    return extents_.row(extents_.index_of(object)).among.load_relaxed();
  }
  /// Frees an object. Requires: `bytes` as allocated, or cold_extents::room_of(). Any thread.
  void deallocate(void* object, std::size_t bytes, recycling room,
                  const local_state& mine) noexcept;
  /// Drops all cached holes. Any thread.
  void flush_holes() noexcept;

  /// Implements heap::release_dead_pages(). Requires: the heap's freed room is recycled.
  std::uint64_t release_dead_pages() noexcept;

  bool is_sparse(const void* object, double live_share) const noexcept;
  /// Implements heap::begin_emptying().
  void begin_emptying(std::size_t index) noexcept;
  /// Not of the extents of a run, which are its object's alone.
  bool is_closed(const void* object) const noexcept;

  packing packing_now() const noexcept;
  /// Returns the packing of the extent of that number, or of the run that begins there.
  packing packing_of(std::size_t index) const noexcept;
  const extent_table& extents() const noexcept { return extents_; }
  /// Returns the part of a heap whose freed room is left.
  cold_extents& cold() noexcept { return cold_; }
  const cold_extents& cold() const noexcept { return cold_; }

  /// Locks all mutexes around fork(), so that no other thread holds one in the child.
  void lock_for_fork();
  void unlock_after_fork();
  /// Freezes the extents, in a fork child (backing::freeze()).
  void freeze() noexcept { extents_.freeze(); }

  /// Walks every extent; no concurrent use.
  bool is_valid() const;

 private:
  static constexpr std::uint32_t kShards = 16;
  /// Objects of at most so many units are appended to extents of their own: a store's keys stay
  /// where they are while the values between which they were made leave, and need not be moved
  /// together again.
  static constexpr std::size_t kTinyUnits = 16;
  static constexpr std::uint32_t kNone = 0xffff'ffffU;

  struct alignas(base::kNoSharingBytes) open_slot {
    // Release when an extent was opened, acquire by appenders: they see its word and pages.
    base::atomic<std::uint32_t> index{kNone};
    /// The last one, by close_empty_extents(). It publishes nothing: a race for it costs a thread
    /// a wait, or spares it one.
    base::atomic<bool> went_back{false};
  };

  void* take_hole(std::size_t units, const local_state& mine) noexcept;
  bool is_worth_filling(const void* hole) const noexcept;
  void free_units(std::size_t index, std::size_t units) noexcept;
  void* append(std::size_t units, recycling room, band among, local_state& mine) noexcept;
  struct append_attempt {
    void* object;       ///< null: the extent has no room
    bool is_contended;  ///< another thread appended to it at the same time
  };
  append_attempt append_to(std::uint32_t index, std::size_t units) noexcept;
  bool open_another(std::uint32_t slot, std::uint32_t full) noexcept;
  void* allocate_run(std::size_t bytes, recycling room) noexcept;
  void slow(std::size_t count, recycling room) const noexcept;
  void free_run(std::size_t index) noexcept;
  bool close(std::size_t index) noexcept;
  bool pin(std::size_t index) noexcept;
  bool choose_to_thin(std::size_t index) noexcept;
  std::uint64_t thin(std::size_t index) noexcept;
  std::uint64_t close_empty_extents() noexcept;
  std::optional<std::size_t> take_extents(std::size_t count) noexcept;
  void give_back(std::size_t first) noexcept;

  extent_table extents_;
  cold_extents cold_{extents_};  // open where freed room is left
  hole_cache holes_;
  // Pairs of open extents, one for tiny objects and one for the others: a pair for each band but
  // the coldest, and a pair for each shard of the coldest.
  std::array<open_slot, std::size_t{2} * (kColdestBand + kShards)> open_;
};

}  // namespace isotherm::heap
