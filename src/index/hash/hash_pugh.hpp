// hash-pugh: a hash table of linked chains with fine-grained locks, after W. Pugh, "Concurrent
// Maintenance of Skip Lists" (UMIACS-TR-90-80, 1990): writers lock one chain, searches lock
// nothing.
//
//   bucket -> node {next, hash, key, value} -> node -> ...
//
// A node carries all 64 bits of its key's hash: keys that do not match are not dereferenced and so
// stay cold. New nodes go to the front and an unlinked node keeps its link, so a search that stands
// on one still reaches all that follows; scopes keep its memory. Growing re-links chains in place:
// a hit is a hit all the same, and a miss counts only when the bucket's word, read again, shows no
// move (Triplett, McKenney, Walpole, USENIX ATC 2011, argue alike for in-place unzipping).
#pragma once

#include <algorithm>
#include <string>

#include "index/common.hpp"
#include "index/hash/bucket_table.hpp"
#include "index/holding.hpp"
#include "index/index.hpp"

namespace isotherm::index {

/// Unordered. All operations linearizable; find() neither waits nor writes.
template <class Holding>
class hash_pugh {
 public:
  static constexpr std::string_view kName = "hash-pugh";

  explicit hash_pugh(std::size_t expected_keys)
      : root_(bucket_table::make(std::bit_ceil(std::max(expected_keys, kMinBuckets)))) {}
  ~hash_pugh();
  hash_pugh(const hash_pugh&) = delete;
  hash_pugh& operator=(const hash_pugh&) = delete;

  std::optional<std::string_view> find(const scope& inside, std::string_view key) {
    bytes* value = nullptr;
    if (!lookup(inside, hash_of(key), key, &value)) return std::nullopt;
    return value->view();
  }
  outcome insert(std::string_view key, std::string_view value);
  outcome upsert(std::string_view key, std::string_view value);
  bool erase(std::string_view key);
  outcome update(std::string_view key, const updater& decide);

  std::uint64_t walk(const scope& inside, std::uint64_t cursor, const visitor& visit);
  std::size_t size() const noexcept { return count_.sum(); }
  void clear();
  bool is_valid();

 private:
  using holder = typename Holding::holder;
  struct node {
    node(std::uint64_t h, holder&& k, holder&& v) noexcept
        : hash(h), key(std::move(k)), value(std::move(v)) {}
    base::atomic<node*> next{nullptr};
    const std::uint64_t hash;
    holder key, value;
  };
  using unlinked_node = unlinked<Holding, node>;

  static constexpr std::size_t kMinBuckets = 64;
  static constexpr std::size_t kMovesAtOnce = 16;      // buckets moved by an operation that helps
  static constexpr std::int64_t kInsertsPerLook = 64;  // how often growth is considered
  static constexpr unsigned kOptimisticTries = 4;
  static constexpr std::size_t kPieceKeys = 16, kPieceBuckets = 256;

  static node* first_of(std::uint64_t word) noexcept {
    return reinterpret_cast<node*>(word & ~bucket::kFlags);
  }
  static std::uint64_t word_of(const node* n) noexcept {
    return reinterpret_cast<std::uint64_t>(n);
  }

  /// The lock of one chain, held until the end of its life. Null: holds nothing.
  class chain_lock {
   public:
    chain_lock() = default;
    chain_lock(bucket* where, node* first) noexcept : where_(where), first_(first) {}
    chain_lock(chain_lock&& o) noexcept
        : where_(std::exchange(o.where_, nullptr)), first_(o.first_) {}
    chain_lock& operator=(chain_lock&& o) noexcept {
      std::swap(where_, o.where_);
      std::swap(first_, o.first_);
      return *this;
    }
    ~chain_lock() {
      if (where_) where_->unlock(word_of(first_));
    }
    explicit operator bool() const noexcept { return where_ != nullptr; }
    node* first() const noexcept { return first_; }
    bool holds(const node* wanted) const noexcept {
      const node* n = first_;
      while (n && n != wanted) n = n->next.load_relaxed();
      return n != nullptr;
    }
    void link(node* n) noexcept {
      n->next.store_relaxed(first_);  // published by unlock()
      first_ = n;
    }
    void unlink(node* n) noexcept {
      if (first_ == n) {
        first_ = n->next.load_relaxed();
        return;
      }
      node* before = first_;
      while (before->next.load_relaxed() != n) before = before->next.load_relaxed();
      // Release: whoever goes on from here sees the nodes that follow as their makers left them.
      before->next.store_release(n->next.load_relaxed());
    }

   private:
    bucket* where_ = nullptr;
    node* first_ = nullptr;
  };

  node* lookup(const scope& inside, std::uint64_t hash, std::string_view key,
               bytes** value = nullptr);
  static node* search(const scope& inside, node* first, std::uint64_t hash, std::string_view key,
                      bytes** value);
  chain_lock lock(std::uint64_t hash) noexcept;
  static unlinked_node make_unlinked(std::uint64_t hash, std::string_view key,
                                     std::string_view value);
  bool link_if_absent(const scope& inside, unlinked_node& fresh, std::string_view key,
                      chain_lock& held);
  void unlink_and_retire(chain_lock&& held, node* n);

  void counted_insert();
  void consider_growth();
  void help_growth();
  void move_bucket(bucket_table& from, bucket_table& to, std::size_t index) noexcept;

  static void collect(bucket_table* table, std::uint64_t index, std::vector<node*>& out);

  base::atomic<bucket_table*> root_;
  base::atomic<bool> is_allocating_{false};  // one thread allocates the next table
  striped_counter count_;
};

}  // namespace isotherm::index

#include "index/hash/hash_pugh_impl.hpp"
