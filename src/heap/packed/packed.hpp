// NEW, HOT and COLD: objects of exact sizes, appended one behind the other. A size-class allocator
// rounds a 1054-byte object up to 1280, which alone caps page utilization at 82%; here the loss is
// under 16 bytes an object, and in COLD's file what gap_before() leaves. A hole in a dense extent
// of NEW or HOT takes the next object of its size (holes.hpp); beyond that holes are not refilled:
// the collector, which can move anything, evacuates sparse extents, and an empty extent goes back
// to the system as a whole.
//
//   range    | extent 0 | extent 1 | ... 1 MiB each        lowest free extent first
//   extents_   a row for each, outside of the range        extent.hpp: the one-word protocol
//   open_      the extents being appended to               two; more under contention only
//   mutex_     which extents are free                      once a megabyte, no system call
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/atomic.hpp"
#include "base/error.hpp"
#include "heap/local.hpp"
#include "heap/object.hpp"
#include "heap/packed/backing.hpp"
#include "heap/packed/extent.hpp"
#include "heap/packed/holes.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::heap {

class packed_heap {
 public:
  packed_heap() noexcept = default;
  packed_heap(const packed_heap&) = delete;
  packed_heap& operator=(const packed_heap&) = delete;

  /// What is done with the room of a freed object.
  enum class freed_room : unsigned char {
    recycled,  ///< kept for objects that ask for it: NEW, HOT
    left       ///< it stays until its extent is empty, and freeing touches no page: COLD
  };
  /// Takes a reserved range of whole extents. Once, before any other call.
  base::result<void> open(std::byte* begin, std::size_t bytes, std::unique_ptr<backing> pages,
                          freed_room treatment);

  /// Payload for `bytes`, header written; null when range or disk is full. Any thread.
  void* allocate(std::size_t bytes, recycling room, band among, local_state& mine) noexcept;
  /// Of an object that lives, or did when the caller's scope was opened.
  band band_of(const void* object) const noexcept {
    return extents_[index_of(object)].among.load_relaxed();
  }
  /// As heap::room_of(), of a heap that leaves freed room as it is. Any thread.
  std::size_t room_of(const void* object) const noexcept;
  /// `bytes` as allocated, or room_of(). Any thread.
  void deallocate(void* object, std::size_t bytes, recycling room,
                  const local_state& mine) noexcept;
  /// Drops all cached holes. Any thread.
  void flush_holes() noexcept;

  /// As heap::release_dead_pages(). Of a heap whose freed room is recycled.
  std::uint64_t release_dead_pages() noexcept;

  bool is_sparse(const void* object, double live_share) const noexcept;
  /// Not of the extents of a run, which are its object's alone.
  bool is_closed(const void* object) const noexcept;
  void note_use(const void* object) noexcept;

  // Of COLD, whose pages leave DRAM. Any thread.
  /// The whole pages that an object takes, with its header.
  base::page_span place_of(const void* object) const noexcept;
  /// Whether reading it would wait for pages that this process has made leave DRAM.
  bool is_out(const void* object) const noexcept;
  /// Of extents that are asked to leave.
  void mark_out(std::size_t first, std::size_t count) noexcept;
  /// That page, counted from the begin of extent `first`, was found to have left.
  void mark_page_out(std::size_t first, std::size_t page) noexcept;
  void mark_in(const base::page_span& where) noexcept;

  /// While it is kept, no address in the extent comes to mean another object: it is not given back.
  /// Of a live object, in a scope that has found it.
  void keep_extent(const void* object) noexcept;
  /// `object` may be gone.
  void release_extent(const void* object) noexcept;

  /// As heap::treat_emptied_cold(), of a heap in a file. Any thread.
  void treat_emptied(emptied how) noexcept;
  /// As heap::give_back_emptied_cold(). Any thread.
  std::uint64_t give_back_emptied() noexcept;
  packing packing_now() const noexcept;
  /// Of the extent of that number, or the run that begins there.
  packing packing_of(std::size_t index) const noexcept;
  /// Why the backing gave no pages when it was last asked for more than it had: an errno, else 0.
  int refusal_code() const noexcept { return refusal_code_.load_relaxed(); }
  std::uint64_t held_bytes() const noexcept { return held_.load_relaxed() * kExtentBytes; }
  std::byte* begin() const noexcept { return begin_; }
  std::uintptr_t used_end() const noexcept;

  /// For the pager: extents [0, used_extents()) were opened once.
  std::size_t used_extents() const noexcept { return used_.load_acquire(); }
  extent& row(std::size_t index) const noexcept { return extents_[index]; }
  std::byte* address_of(std::size_t index) const noexcept { return begin_ + index * kExtentBytes; }

  /// Around fork(): no other thread is inside the mutex.
  void lock_for_fork() {
    holes_.lock_for_fork();
    mutex_.lock();
  }
  void unlock_after_fork() {
    mutex_.unlock();
    holes_.unlock_after_fork();
  }
  void freeze() noexcept { pages_->freeze(); }
  const backing& pages() const noexcept { return *pages_; }

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
  void give_back_whole(std::size_t index) noexcept;
  bool pin(std::size_t index) noexcept;
  std::uint64_t thin(std::size_t index) noexcept;
  std::uint64_t close_empty_extents() noexcept;
  void give_back(std::size_t first, std::size_t count) noexcept;
  std::size_t take_extents(std::size_t count) noexcept;
  std::size_t try_to_take(std::size_t count) noexcept;

  struct extent_run {
    std::size_t first, count;
  };
  void give_back_now(const extent_run& which) noexcept;
  extent_run take_emptied() noexcept;

  // Under mutex_.
  std::size_t choose_extents(std::size_t count) noexcept;
  std::size_t find_free(std::size_t count) const noexcept;
  void mark_taken(std::size_t first, std::size_t count) noexcept;
  void mark_free(std::size_t first, std::size_t count) noexcept;
  bool is_taken(std::size_t index) const noexcept {
    return (taken_[index / 64] >> (index % 64) & 1U) != 0;
  }
  bool is_emptied(std::size_t index) const noexcept {
    return (emptied_[index / 64] >> (index % 64) & 1U) != 0;
  }

  std::size_t index_of(const void* object) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(object) - begin_) / kExtentBytes;
  }

  std::byte* begin_ = nullptr;
  std::size_t extent_count_ = 0;
  extent* extents_ = nullptr;
  object_ends* ends_ = nullptr;  // a row for each extent; null: freed room is recycled
  pages_out* out_ = nullptr;     // likewise
  std::unique_ptr<backing> pages_;
  bool is_on_disk_ = false;  // as pages_ says: asked for each object
  hole_cache holes_;
  // Of each band but the coldest, and in that of each shard: that of tiny objects, and the other.
  std::array<open_slot, std::size_t{2} * (kColdestBand + kShards)> open_;
  base::atomic<std::size_t> used_{0};  // extents [0, used_) were opened once; grows under mutex_
  base::atomic<std::uint64_t> held_{0};
  base::atomic<int> refusal_code_{0};
  std::mutex mutex_;
  std::vector<std::uint64_t> taken_;  // a bit an extent
  std::size_t lowest_free_ = 0;       // no extent below it is free
  emptied treatment_ = emptied::given_back;
  std::vector<std::uint64_t> emptied_;  // of those taken, for give_back_emptied(); a bit an extent
  std::size_t lowest_emptied_ = 0;      // none below it is
};

}  // namespace isotherm::heap
