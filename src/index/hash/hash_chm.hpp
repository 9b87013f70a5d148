// hash-chm: a hash table by the design of Java 8's ConcurrentHashMap, which locks bins, not that of
// Java 5 to 7, which locks segments (Doug Lea with the JCP JSR-166 expert group,
// java.util.concurrent.ConcurrentHashMap, 2013; the overview in its source). The first node of an
// empty bin goes in by one compare-and-swap; all other writers lock the bin by its first node; new
// nodes go to the end, so that the first one stays the lock. The table grows when it is more than
// 3/4 full; a writer that meets a moved bin helps to move others before it goes on in the next
// table. Searches lock only the bins that they help to move. The number of keys is kept in a
// sharded counter.
//
//   bin -> node {next | locked, hash, key, value} -> node -> ...
//
// Two things differ from Java's. A bin is split in place, where Java copies some of its nodes: a
// guide has only one owner (growing_table.hpp says why searches may be in the chain meanwhile). And
// long bins do not become trees: with a well mixed hash of 64 bits no bin is long.
#pragma once

#include <string>

#include "index/common.hpp"
#include "index/hash/chained_hash.hpp"
#include "index/hash/growing_table.hpp"
#include "index/index.hpp"
#include "index/storage.hpp"

namespace isotherm::index {

/// A node of hash-chm. Its link word holds the next node and, while it is the first of a bin, the
/// bin's lock. A node that was the first, or has been unlinked, may be locked for a moment by a
/// thread that has read the bin's word before; so each change of one part of the word keeps the
/// other.
template <class Storage>
class chm_node {
 public:
  using owned_bytes = typename Storage::owned_bytes;
  chm_node(std::uint64_t h, owned_bytes&& k, owned_bytes&& v) noexcept
      : hash(h), key(std::move(k)), value(std::move(v)) {}

  /// Acquire: pairs with set_next().
  chm_node* next() const noexcept {
    return reinterpret_cast<chm_node*>(link_.load_acquire() & ~kLocked);
  }
  void set_next(chm_node* n) noexcept {
    std::uintptr_t seen = link_.load_acquire();
    while (!link_.compare_exchange_acq_rel(
        seen, reinterpret_cast<std::uintptr_t>(n) | (seen & kLocked))) {
    }
  }
  bool try_lock() noexcept {
    std::uintptr_t seen = link_.load_acquire();
    return !(seen & kLocked) && link_.compare_exchange_acq_rel(seen, seen | kLocked);
  }
  void unlock() noexcept { link_.fetch_and_acq_rel(~kLocked); }
  bool is_locked() const noexcept { return (link_.load_acquire() & kLocked) != 0; }

 private:
  static constexpr std::uintptr_t kLocked = 1;
  base::atomic<std::uintptr_t> link_{0};

 public:
  const std::uint64_t hash;
  typename Storage::pointer key, value;
};

/// Unordered. All operations linearizable. Writers wait for the lock of their bin. find() takes no
/// lock unless it meets a growing table: it then waits for a bin that is being split if it has
/// found no key there, and moves some bins itself, each under the bin's lock. walk() only waits.
template <class Storage>
class hash_chm : public chained_hash<hash_chm<Storage>, Storage, chm_node<Storage>> {
  using node = chm_node<Storage>;
  using operations = chained_hash<hash_chm<Storage>, Storage, node>;
  friend operations;

 public:
  static constexpr std::string_view kName = "hash-chm";

  explicit hash_chm(std::size_t expected_keys, const Storage& storage = {})
      : operations(expected_keys + expected_keys / 3, storage) {}
  hash_chm(const hash_chm&) = delete;
  hash_chm& operator=(const hash_chm&) = delete;

  void clear();

 private:
  using operations::count_;
  using operations::table_;
  using typename operations::bucket_array;
  using typename operations::table_of_nodes;

  /// A bin, locked by its first node until this object is destroyed. An empty bin is not locked: it
  /// is changed by a compare-and-swap.
  class bin {
   public:
    bin() = default;
    bin(bucket* where, node* head) noexcept : where_(where), head_(head) {}
    bin(bin&& o) noexcept
        : where_(std::exchange(o.where_, nullptr)), head_(std::exchange(o.head_, nullptr)) {}
    bin& operator=(bin&& o) noexcept {
      std::swap(where_, o.where_);
      std::swap(head_, o.head_);
      return *this;
    }
    ~bin() {
      if (head_) head_->unlock();
    }
    explicit operator bool() const noexcept { return where_ != nullptr; }
    bucket& where() const noexcept { return *where_; }
    node* first() const noexcept { return head_; }
    bool holds(const node* wanted) const noexcept {
      const node* n = head_;
      while (n && n != wanted) n = n->next();
      return n != nullptr;
    }
    bool link(node* created) noexcept {
      if (!head_) return where_->compare_exchange(0, table_of_nodes::word_of(created));
      node* last = head_;
      while (node* next = last->next()) last = next;
      last->set_next(created);
      return true;
    }
    void unlink(node* n) noexcept {
      if (n == head_) {
        where_->store(table_of_nodes::word_of(n->next()));
        return;
      }
      node* before = head_;
      while (before->next() != n) before = before->next();
      before->set_next(n->next());
    }

   private:
    bucket* where_ = nullptr;
    node* head_ = nullptr;
  };
  using chain_lock = bin;

  bin lock(std::uint64_t hash) noexcept;
  static bin try_lock(bucket& where, std::uint64_t word) noexcept;

  static std::size_t most_keys(std::size_t bins) noexcept { return bins - bins / 4; }
  static bool is_at_rest(const node* n) noexcept { return !n->is_locked(); }
  static void move_bucket(bucket_array& from, bucket_array& to, std::size_t index) noexcept;
};

}  // namespace isotherm::index
