// hash-pugh: a hash table of linked chains, each kept as W. Pugh keeps one level of his lists
// ("Concurrent Maintenance of Skip Lists", UMIACS-TR-90-80, 1990): searches take no lock, writers
// lock one bucket by a bit of its word. There are no read/write locks: readers lock only the chains
// that they help to move when the table grows.
//
//   bucket -> node {next, hash, key, value} -> node -> ...
//
// A node carries all 64 bits of its key's hash: keys that do not match are not dereferenced and so
// stay cold. New nodes go to the front, and an unlinked node keeps its link, so that a search that
// has come to it still reaches all nodes that follow; the search's scope keeps its memory. The
// table grows bucket by bucket (growing_table.hpp).
#pragma once

#include <string>

#include "index/common.hpp"
#include "index/hash/chained_hash.hpp"
#include "index/hash/growing_table.hpp"
#include "index/index.hpp"
#include "index/storage.hpp"

namespace isotherm::index {

/// A node of hash-pugh.
template <class Storage>
struct pugh_node {
  using owned_bytes = typename Storage::owned_bytes;
  pugh_node(std::uint64_t h, owned_bytes&& k, owned_bytes&& v) noexcept
      : hash(h), key(std::move(k)), value(std::move(v)) {}
  /// Acquire: pairs with set_next().
  pugh_node* next() const noexcept { return link.load_acquire(); }
  /// Release: a thread that follows the link sees the contents of the node.
  void set_next(pugh_node* n) noexcept { link.store_release(n); }
  base::atomic<pugh_node*> link{nullptr};
  const std::uint64_t hash;
  typename Storage::pointer key, value;
};

/// Unordered. All operations linearizable. Writers wait for the lock of their chain. find() neither
/// waits nor writes unless it meets a growing table: it then waits for a chain that is being split
/// if it has found no key there, and moves some chains itself, each under the chain's lock. walk()
/// only waits.
template <class Storage>
class hash_pugh : public chained_hash<hash_pugh<Storage>, Storage, pugh_node<Storage>> {
  using node = pugh_node<Storage>;
  using operations = chained_hash<hash_pugh<Storage>, Storage, node>;
  friend operations;

 public:
  static constexpr std::string_view kName = "hash-pugh";

  explicit hash_pugh(std::size_t expected_keys, const Storage& storage = {})
      : operations(expected_keys, storage) {}
  hash_pugh(const hash_pugh&) = delete;
  hash_pugh& operator=(const hash_pugh&) = delete;

  void clear();

 private:
  using operations::count_;
  using operations::table_;
  using typename operations::bucket_array;
  using typename operations::table_of_nodes;
  static node* first_of(std::uint64_t word) noexcept { return table_of_nodes::first_of(word); }
  static std::uint64_t word_of(const node* n) noexcept { return table_of_nodes::word_of(n); }

  /// Holds the lock of one chain until it is destroyed. Null: holds nothing.
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
      if (where_) where_->store(word_of(first_));
    }
    explicit operator bool() const noexcept { return where_ != nullptr; }
    node* first() const noexcept { return first_; }
    bool holds(const node* wanted) const noexcept {
      const node* n = first_;
      while (n && n != wanted) n = n->link.load_relaxed();
      return n != nullptr;
    }
    bool link(node* n) noexcept {
      n->link.store_relaxed(first_);  // published by the bucket's store()
      first_ = n;
      return true;
    }
    void unlink(node* n) noexcept {
      if (first_ == n) {
        first_ = n->link.load_relaxed();
        return;
      }
      node* before = first_;
      while (before->link.load_relaxed() != n) before = before->link.load_relaxed();
      before->set_next(n->link.load_relaxed());
    }

   private:
    bucket* where_ = nullptr;
    node* first_ = nullptr;
  };

  chain_lock lock(std::uint64_t hash) noexcept;

  static std::size_t most_keys(std::size_t buckets) noexcept { return buckets; }
  static bool is_at_rest(const node*) noexcept { return true; }  // nodes have no lock
  static void move_bucket(bucket_array& from, bucket_array& to, std::size_t index) noexcept;
};

}  // namespace isotherm::index
