// The extents of a packed range: which are taken, and by which pages they are backed. Threads
// acquire extents in runs of neighbours, the lowest that are free first, and give them back one by
// one or as runs.
//
//   range    | extent 0 | extent 1 | ... 1 MiB each
//   rows     a row for each, outside of the range      extent.hpp: the one-word protocol
//   taken_   a bit for each, under mutex_              once a megabyte, no system call
//
//   taken    =>  index < used()
//   held     ==  number of taken extents
//   free     =>  index >= lowest_free_
//   free and index < used()  =>  its row is empty for good, and heads no run
//
// The system is asked for pages, and gets them back, outside of the mutex: threads that allocate
// and threads that free do not wait for a disk.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/atomic.hpp"
#include "base/error.hpp"
#include "heap/packed/backing.hpp"
#include "heap/packed/extent.hpp"

namespace isotherm::heap {

/// Neighbouring extents, by number.
struct extent_run {
  std::size_t first, count;
};

/// A bit for each extent of a range. Not thread-safe.
class extent_set {
 public:
  explicit extent_set(std::size_t extents = 0) : words_((extents + 63) / 64) {}

  bool contains(std::size_t index) const noexcept {
    return (words_[index / 64] >> (index % 64) & 1U) != 0;
  }
  /// Returns whether the set has all 64 extents from `index` on, which is a multiple of 64.
  bool contains_64(std::size_t index) const noexcept {
    return words_[index / 64] == ~std::uint64_t{0};
  }
  void insert(std::size_t index) noexcept { words_[index / 64] |= bit_of(index); }
  void erase(std::size_t index) noexcept { words_[index / 64] &= ~bit_of(index); }
  /// Appends the numbers below `end` that the set has, the lowest first. Passes over 64 extents
  /// that it has none of at a time. Errors: throws std::bad_alloc.
  void append_to(std::vector<std::size_t>& numbers, std::size_t end) const {
    for (std::size_t word = 0; word * 64 < end; ++word) {
      for (std::uint64_t left = words_[word]; left != 0; left &= left - 1) {
        numbers.push_back(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
      }
    }
  }

 private:
  static constexpr std::uint64_t bit_of(std::size_t index) noexcept {
    return std::uint64_t{1} << (index % 64);
  }
  std::vector<std::uint64_t> words_;
};

/// The addresses of a range's extents, and their rows. The holder of a copy follows no pointer to
/// the table.
class extent_rows {
 public:
  extent_rows() noexcept = default;
  extent_rows(std::byte* begin, extent* rows) noexcept : begin_(begin), rows_(rows) {}

  std::byte* begin() const noexcept { return begin_; }
  std::byte* address_of(std::size_t index) const noexcept { return begin_ + index * kExtentBytes; }
  std::size_t index_of(const void* object) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(object) - begin_) / kExtentBytes;
  }
  extent& row(std::size_t index) const noexcept { return rows_[index]; }

 private:
  std::byte* begin_ = nullptr;
  extent* rows_ = nullptr;
};

class extent_table : public extent_rows {
 public:
  extent_table() noexcept = default;
  extent_table(const extent_table&) = delete;
  extent_table& operator=(const extent_table&) = delete;

  /// Covers a reserved range of whole extents. Once, before any other call.
  base::result<void> open(std::byte* begin, std::size_t bytes, std::unique_ptr<backing> pages);

  /// Acquires the lowest `count` free neighbours, with pages, as a run whose one object lives: its
  /// owner sets run_bytes of the first row, or makes an extent for many objects of it. Returns the
  /// first; nullopt when range or backing has no room. Thread: any.
  std::optional<std::size_t> acquire(std::size_t count) noexcept;
  /// Returns the extent `first`, or the run that it heads, which is no run any more.
  /// Requires: it is empty for good, and the caller made it so. Thread: any.
  extent_run dissolve(std::size_t first) noexcept;
  /// Gives extents back, with their pages; does nothing in a fork child that shares them.
  /// Requires: they are empty for good and dissolved, and the caller's. Thread: any.
  void give_back(const extent_run& which) noexcept;

  const extent_rows& rows() const noexcept { return *this; }
  /// Returns the number of extents of the range.
  std::size_t count() const noexcept { return count_; }
  /// Returns the end of the extents that were taken once: it only grows. Acquire: pairs with the
  /// release of acquire(); rows below it are in a state that a walk understands.
  std::size_t used() const noexcept { return used_.load_acquire(); }
  /// Returns the address of that end.
  std::uintptr_t used_end() const noexcept {
    return reinterpret_cast<std::uintptr_t>(address_of(used()));
  }
  std::uint64_t held_bytes() const noexcept { return held_.load_relaxed() * kExtentBytes; }
  /// Returns why the backing gave no pages when it was last asked for more than it had: an errno,
  /// else 0.
  int refusal_code() const noexcept { return refusal_code_.load_relaxed(); }

  /// Returns the births of extents (extent::birth) until now, modulo their range.
  std::uint32_t births() const noexcept { return births_.load_relaxed(); }

  const backing& pages() const noexcept { return *pages_; }
  /// Returns pages().is_logged() from here: it is asked for each object.
  bool is_logged() const noexcept { return is_logged_; }
  /// Freezes the pages, in a fork child (backing::freeze()).
  void freeze() noexcept { pages_->freeze(); }
  /// Locks the mutex around fork(), so that no other thread holds it in the child.
  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }

  // No concurrent use.
  bool is_taken(std::size_t index) const noexcept { return taken_.contains(index); }
  bool is_valid() const noexcept;

 private:
  // Under mutex_.
  std::optional<std::size_t> choose(std::size_t count) noexcept;
  std::size_t find_free(std::size_t count) const noexcept;
  void mark_taken(const extent_run& which) noexcept;
  void mark_free(const extent_run& which) noexcept;

  std::size_t count_ = 0;
  std::unique_ptr<backing> pages_;
  bool is_logged_ = false;
  // These fields have a cache line apart from those above, which are read for each object.
  alignas(base::kNoSharingBytes) base::atomic<std::size_t> used_{0};  // grows under mutex_
  base::atomic<std::uint64_t> held_{0};
  base::atomic<int> refusal_code_{0};
  base::atomic<std::uint32_t> births_{0};  // changes under mutex_
  std::mutex mutex_;
  extent_set taken_;
  std::size_t lowest_free_ = 0;
};

}  // namespace isotherm::heap
