// Version and lock of a Masstree node in one word (Masstree, 4.5, figure 3).
//
//   locked      one writer at a time
//   inserting   entries are being changed in place
//   splitting   entries are being moved to a new node on the right
//   deleted     the node is unlinked or replaced; a search that meets it starts again
//   root        the top of its layer
//   border      a border node (constant)
//   28 bits     splits (and removals of nodes) so far
//   28 bits     changes in place so far
//
// Readers take no lock: they read a version without `inserting` and `splitting`, then fields, and
// use these if the version has not changed except for `locked`. A writer that holds the lock marks
// the node before its first change, and counts the change when it unlocks. Fields are atomics, read
// with acquire and written with release: a reader that has seen a changed field therefore also sees
// the mark when it reads the version again, and no fence is needed.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "index/common.hpp"

namespace isotherm::index::masstree_detail {

/// A version as read.
class version {
 public:
  static constexpr std::uint64_t kLocked = 1, kInserting = 2, kSplitting = 4, kDeleted = 8,
                                 kRoot = 16, kBorder = 32;
  static constexpr std::uint64_t kSplitOne = std::uint64_t{1} << 8;
  static constexpr std::uint64_t kInsertOne = std::uint64_t{1} << 36;
  static constexpr std::uint64_t kDirty = kInserting | kSplitting;

  constexpr explicit version(std::uint64_t word = 0) noexcept : word_(word) {}
  constexpr std::uint64_t word() const noexcept { return word_; }
  constexpr bool is_dirty() const noexcept { return (word_ & kDirty) != 0; }
  constexpr bool is_deleted() const noexcept { return (word_ & kDeleted) != 0; }
  constexpr bool is_root() const noexcept { return (word_ & kRoot) != 0; }
  constexpr bool is_border() const noexcept { return (word_ & kBorder) != 0; }
  /// True when the node has changed between the two versions: what was read meanwhile may be torn.
  constexpr bool differs(version later) const noexcept {
    return ((word_ ^ later.word_) & ~kLocked) != 0;
  }
  /// True when entries may have left the node between the two versions: only then must a search go
  /// back to the top of the layer.
  constexpr bool has_split(version later) const noexcept {
    return ((word_ ^ later.word_) & (kDeleted | (kInsertOne - kSplitOne))) != 0;
  }

 private:
  std::uint64_t word_;
};

/// The version in a node. Only the holder of the lock may set marks and the root bit.
class version_word {
 public:
  explicit version_word(std::uint64_t word) noexcept : word_(word) {}

  version now() const noexcept { return version(word_.load_acquire()); }
  /// The version outside of changes; waits for a change to end.
  version stable() const noexcept {
    version v = now();
    for (backoff wait; v.is_dirty(); v = now()) wait();
    return v;
  }

  /// Locks.
  void lock() noexcept {
    for (backoff wait;; wait()) {
      std::uint64_t seen = word_.load_relaxed();
      if ((seen & version::kLocked) != 0) continue;
      if (word_.compare_exchange_acq_rel(seen, seen | version::kLocked)) return;
    }
  }
  /// Locks if nothing has changed since `seen` was read; otherwise false.
  bool lock_if(version seen) noexcept {
    std::uint64_t expected = seen.word() & ~version::kLocked;
    if (word_.compare_exchange_acq_rel(expected, expected | version::kLocked)) return true;
    if (seen.differs(version(expected))) return false;
    lock();  // another thread holds the lock, and may not change anything
    if (!seen.differs(now())) return true;
    unlock();
    return false;
  }

  void mark(std::uint64_t bits) noexcept { word_.store_release(word_.load_relaxed() | bits); }
  void mark_inserting() noexcept { mark(version::kInserting); }
  void mark_splitting() noexcept { mark(version::kSplitting); }
  void mark_deleted() noexcept { mark(version::kDeleted | version::kSplitting); }
  void clear_root() noexcept { word_.store_release(word_.load_relaxed() & ~version::kRoot); }

  /// Counts what was marked, and unlocks.
  void unlock() noexcept {
    std::uint64_t word = word_.load_relaxed();
    if ((word & version::kInserting) != 0) word += version::kInsertOne;
    if ((word & version::kSplitting) != 0) word += version::kSplitOne;
    word_.store_release(word & ~(version::kLocked | version::kDirty));
  }

 private:
  base::atomic<std::uint64_t> word_;
};

}  // namespace isotherm::index::masstree_detail
