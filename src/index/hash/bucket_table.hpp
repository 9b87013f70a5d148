// The array of chain heads of the hash tables, and the order in which walks visit it.
#pragma once

#include <bit>
#include <cstdint>

#include "base/atomic.hpp"
#include "index/common.hpp"

namespace isotherm::index {

/// One chain head. A plain word accessed atomically, not a base::atomic: zeroed memory is thus an
/// empty, unlocked bucket without being constructed, and a large table takes pages only as they are
/// used.
class bucket {
 public:
  static constexpr std::uint64_t kLocked = 1, kMoving = 2, kFlags = 3;

  /// Acquire: pairs with the writers' releases, publishing the nodes linked before.
  std::uint64_t load() const noexcept { return __atomic_load_n(&word_, __ATOMIC_ACQUIRE); }
  bool compare_exchange(std::uint64_t seen, std::uint64_t next) noexcept {
    return __atomic_compare_exchange_n(&word_, &seen, next, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
  }
  void store(std::uint64_t word) noexcept { __atomic_store_n(&word_, word, __ATOMIC_RELEASE); }

 private:
  std::uint64_t word_;
};

/// The level (storage.hpp) of nodes and all else that a table of buckets leads to.
inline constexpr unsigned kBelowTable = 1;

/// An array of buckets, as many as a power of two, in the storage's node memory.
template <class Storage>
class bucket_table {
 public:
  static bucket_table* make(const Storage& storage, std::size_t size) {
    return new bucket_table(storage, size);
  }
  ~bucket_table() { Storage::deallocate_node(buckets_); }
  static void destroy(void* table) noexcept { delete static_cast<bucket_table*>(table); }

  bucket& at(std::uint64_t hash) noexcept { return buckets_[hash & mask_]; }
  std::size_t size() const noexcept { return mask_ + 1; }
  std::uint64_t mask() const noexcept { return mask_; }

  base::atomic<bucket_table*> next{nullptr};  ///< the table of double size, while growing

 private:
  bucket_table(const Storage& storage, std::size_t size)
      : mask_(size - 1),
        buckets_(static_cast<bucket*>(storage.allocate_zeroed(size * sizeof(bucket)))) {}

  const std::uint64_t mask_;
  bucket* const buckets_;

 public:
  // On lines apart from what every operation reads: all threads that help to grow write these.
  /// Buckets that a thread moves or has moved; when it is not below size(), none is left to claim.
  alignas(base::kNoSharingBytes) base::atomic<std::size_t> claimed{0};
  base::atomic<std::size_t> moved{0};  ///< buckets that have moved; at size() the table is retired
};

constexpr std::uint64_t reverse_bits(std::uint64_t x) noexcept {
  x = ((x >> 1) & 0x5555555555555555u) | ((x & 0x5555555555555555u) << 1);
  x = ((x >> 2) & 0x3333333333333333u) | ((x & 0x3333333333333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0f0f0f0f0fu) | ((x & 0x0f0f0f0f0f0f0f0fu) << 4);
  return std::byteswap(x);
}

/// Next position of a walk over a table of mask + 1 buckets. Counts in reversed bits: the buckets
/// into which one bucket splits then follow each other, so that growth makes a walk miss none (the
/// cursor of Redis SCAN, dict.c, P. Noordhuis 2012). 0 at the end.
constexpr std::uint64_t next_cursor(std::uint64_t cursor, std::uint64_t mask) noexcept {
  return reverse_bits(reverse_bits(cursor | ~mask) + 1);
}

}  // namespace isotherm::index
