// The part of COLD's extents that NEW and HOT do not have, because COLD's pages leave DRAM while
// objects live there: sizes that no page is read for, what is out of DRAM, extents that are pinned
// for reads, and emptied extents whose room on the disk is given back later.
//
// How pages leave is in pager.hpp (mapped COLD) and log_writer.hpp (logged), reads are in
// heap/cold/.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "base/error.hpp"
#include "base/page.hpp"
#include "heap/packed/extent.hpp"
#include "heap/packed/extent_table.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::heap {

/// The ends of a COLD extent's objects, a bit a unit: the thread that frees an object learns its
/// size without reading its page, which may have left DRAM. The bits take a 128th of COLD.
///
/// Relaxed: an object's last unit is marked before the object is handed out, and its free happens
/// after that. A neighbour's bits, which share the words, are of no interest.
class object_ends {
 public:
  void mark(std::size_t unit) noexcept { words_[unit / 64].fetch_or_relaxed(bit_of(unit)); }
  /// Returns the units of the object that begins at `first`.
  std::size_t units_from(std::size_t first) const noexcept {
    std::size_t i = first / 64;
    std::uint64_t word = words_[i].load_relaxed() & ~(bit_of(first) - 1);
    while (word == 0 && ++i < words_.size()) word = words_[i].load_relaxed();
    ISO_CHECK(i < words_.size(), "an object of COLD has an end");
    return i * 64 + static_cast<std::size_t>(std::countr_zero(word)) - first + 1;
  }
  /// Forgets all ends. Requires: no thread uses the extent.
  void clear() noexcept {
    for (auto& word : words_) word.store_relaxed(0);
  }

 private:
  static constexpr std::uint64_t bit_of(std::size_t unit) noexcept {
    return std::uint64_t{1} << (unit % 64);
  }
  std::array<base::atomic<std::uint64_t>, (kExtentUnits + 64) / 64> words_;
};

/// The pages of a mapped COLD extent that have left DRAM, a bit a page: those that this process has
/// made leave, and those that the system was seen to have taken (pager::look_at()). A page that the
/// system has taken unseen counts as in DRAM, and costs a fault; a page that a fault has brought
/// back unseen counts as out, and costs a read that was not needed. The bits are relaxed, because a
/// wrong one costs time only.
class pages_out {
 public:
  static constexpr std::size_t kPages = kExtentBytes / base::kPageBytes;

  bool is_out(std::size_t page) const noexcept {
    return (words_[page / 64].load_relaxed() >> (page % 64) & 1U) != 0;
  }
  /// Returns whether one of the pages `first` to `last` is out.
  bool is_any_out(std::size_t first, std::size_t last) const noexcept {
    for (std::size_t i = first / 64; i <= last / 64; ++i) {
      std::uint64_t asked = ~std::uint64_t{0};
      if (i == first / 64) asked &= ~std::uint64_t{0} << (first % 64);
      if (i == last / 64) asked &= ~std::uint64_t{0} >> (63 - last % 64);
      if ((words_[i].load_relaxed() & asked) != 0) return true;
    }
    return false;
  }
  void mark_all_out() noexcept {
    for (auto& word : words_) word.store_relaxed(~std::uint64_t{0});
  }
  void mark_out(std::size_t page) noexcept {
    if (!is_out(page)) words_[page / 64].fetch_or_relaxed(std::uint64_t{1} << (page % 64));
  }
  void mark_all_in() noexcept {
    for (auto& word : words_) word.store_relaxed(0);
  }
  void mark_in(std::size_t page) noexcept {
    if (is_out(page)) words_[page / 64].fetch_and_relaxed(~(std::uint64_t{1} << (page % 64)));
  }

 private:
  std::array<base::atomic<std::uint64_t>, kPages / 64> words_;
};

/// A member of each packed heap, so that no path follows a pointer to it; only COLD's is opened.
/// Thread: any, where a function does not say otherwise.
class cold_extents {
 public:
  explicit cold_extents(extent_table& extents) noexcept : table_(extents) {}
  cold_extents(const cold_extents&) = delete;
  cold_extents& operator=(const cold_extents&) = delete;

  /// Makes the rows for a table that is open. Once, before any other call.
  base::result<void> open();
  /// Returns false in NEW and HOT.
  bool is_open() const noexcept { return ends_ != nullptr; }

  // For the heap.
  /// Forgets the objects of an extent that is about to be opened.
  void forget_objects(std::size_t index) noexcept { ends_[index].clear(); }
  /// Records the last unit of an object, before that is handed out.
  void mark_end(std::size_t index, std::size_t unit) noexcept { ends_[index].mark(unit); }
  /// Gives an emptied extent back, or the run that it heads; or leaves that to give_back_emptied().
  /// Requires: it is empty for good, and the caller made it so.
  void give_back(std::size_t first) noexcept;

  /// Returns heap::room_of() of an object of COLD.
  std::size_t room_of(const void* object) const noexcept;
  /// Returns the whole pages that an object takes, with its header.
  base::page_span place_of(const void* object) const noexcept;

  /// Returns whether an object has left DRAM: in a logged COLD its extent was written, and in a
  /// mapped one reading would wait for pages (pages_out). Acquire: pairs with the release of
  /// note_written(). A thread that reads false in a scope may read the object where it lies until
  /// the scope closes.
  bool is_out(const void* object) const noexcept;

  // A mapped COLD has these.
  /// Marks extents that are asked to leave.
  void mark_out(std::size_t first, std::size_t count) noexcept;
  /// Marks a page, counted from the begin of extent `first`, that was found to have left.
  void mark_page_out(std::size_t first, std::size_t page) noexcept;
  void mark_in(const base::page_span& where) noexcept;
  /// Does the work of note_cold_use().
  void note_use(const void* object) noexcept;

  // A logged COLD has these.
  /// Returns the extents, or heads of runs, that were taken and not written since, the lowest
  /// first. Errors: throws std::bad_alloc.
  std::vector<std::size_t> in_memory() const;
  /// Returns the bytes that such extents may take of DRAM.
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_.load_relaxed(); }
  /// Pins an extent, or the run that it heads, as pin_extent() does. Returns false where it still
  /// takes objects, or holds none.
  /// Requires: no other thread allocates in COLD.
  bool pin_closed(std::size_t first) noexcept;
  void unpin(std::size_t first) noexcept;
  /// Makes a pinned extent, or run, one that is out: no scope that opens from now on reads it in
  /// memory.
  void note_written(std::size_t first) noexcept;

  // Both have this.
  /// Notes that extents were taken: they are in memory.
  void note_taken(std::size_t first, std::size_t count) noexcept;
  /// Pins the extent of an object: it is not given back while it is pinned, so that no address in
  /// it comes to mean another object.
  /// Requires: the object is live, and was found in the scope that is open.
  void pin_extent(const void* object) noexcept;
  /// Unpins the extent of an object, which may be gone: once for each pin_extent().
  void unpin_extent(const void* object) noexcept;

  /// Does the work of treat_emptied_cold().
  void treat_emptied(emptied how) noexcept;
  /// Does the work of give_back_emptied_cold().
  std::uint64_t give_back_emptied() noexcept;
  /// Returns whether an extent is left to give_back_emptied(): empty for good, and taken still.
  /// Requires: no concurrent use.
  bool is_left(std::size_t index) const noexcept { return left_.contains(index); }

  /// Locks the mutex around fork(), so that no other thread holds it in the child.
  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }

 private:
  bool leave(const extent_run& emptied_now) noexcept;
  void leave_memory(const extent_run& which) noexcept;
  extent_run take_left() noexcept;

  extent_table& table_;
  extent_rows extents_;                          // of table_
  object_ends* ends_ = nullptr;                  // a row for each extent
  pages_out* out_ = nullptr;                     // a row for each extent; null in a logged COLD
  base::atomic<std::uint64_t> memory_bytes_{0};  // relaxed: a sum for statistics and the policy
  // Guards all fields below it. It has a cache line apart from the fields above, which are read for
  // each object.
  alignas(base::kNoSharingBytes) mutable std::mutex mutex_;
  emptied treatment_ = emptied::given_back;
  extent_set left_, in_memory_;
  std::size_t lowest_left_ = 0;  // no extent below it is left
};

}  // namespace isotherm::heap
