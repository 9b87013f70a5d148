// hash-pugh: a hash table of linked chains with fine-grained locks, after W. Pugh, "Concurrent
// Maintenance of Skip Lists" (UMIACS-TR-90-80, 1990): writers lock one chain, searches lock
// nothing but what they help to move when the table grows.
//
//   bucket -> node {next, hash, key, value} -> node -> ...
//
// A node carries all 64 bits of its key's hash: keys that do not match are not dereferenced and so
// stay cold. New nodes go to the front and an unlinked node keeps its link, so a search that stands
// on one still reaches all that follows; scopes keep its memory. The table grows by and by
// (growing_table.hpp).
#pragma once

#include <string>

#include "index/common.hpp"
#include "index/hash/growing_table.hpp"
#include "index/holding.hpp"
#include "index/index.hpp"

namespace isotherm::index {

/// Unordered. All operations linearizable. find() neither waits nor writes unless it meets a table
/// that grows: it waits for a chain that is being split and was no hit, and then moves some chains
/// itself, each under the chain's lock. walk() only waits.
template <class Holding>
class hash_pugh {
 public:
  static constexpr std::string_view kName = "hash-pugh";

  explicit hash_pugh(std::size_t expected_keys) : table_(expected_keys) {}
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

  std::uint64_t walk(const scope& inside, std::uint64_t cursor, const visitor& visit) {
    return table_.walk(inside, cursor, visit);
  }
  std::size_t size() const noexcept { return count_.sum(); }
  void clear();
  bool is_valid();

 private:
  using holder = typename Holding::holder;
  struct node {
    node(std::uint64_t h, holder&& k, holder&& v) noexcept
        : hash(h), key(std::move(k)), value(std::move(v)) {}
    // Acquire: pairs with unlink()'s and move_bucket()'s releases.
    node* next() const noexcept { return link.load_acquire(); }
    base::atomic<node*> link{nullptr};
    const std::uint64_t hash;
    holder key, value;
  };
  using unlinked_node = unlinked<Holding, node>;

  static constexpr std::int64_t kInsertsPerLook = 64;  // how often growth is considered
  static constexpr unsigned kOptimisticTries = 4;

  using table_of_nodes = growing_table<Holding, node>;
  using bucket_array = typename table_of_nodes::table;
  static node* first_of(std::uint64_t word) noexcept { return table_of_nodes::first_of(word); }
  static std::uint64_t word_of(const node* n) noexcept { return table_of_nodes::word_of(n); }

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
      if (where_) where_->store(word_of(first_));
    }
    explicit operator bool() const noexcept { return where_ != nullptr; }
    node* first() const noexcept { return first_; }
    bool holds(const node* wanted) const noexcept {
      const node* n = first_;
      while (n && n != wanted) n = n->link.load_relaxed();
      return n != nullptr;
    }
    void link(node* n) noexcept {
      n->link.store_relaxed(first_);  // published by the bucket's store()
      first_ = n;
    }
    void unlink(node* n) noexcept {
      if (first_ == n) {
        first_ = n->link.load_relaxed();
        return;
      }
      node* before = first_;
      while (before->link.load_relaxed() != n) before = before->link.load_relaxed();
      // Release: whoever goes on from here sees the nodes that follow as their makers left them.
      before->link.store_release(n->link.load_relaxed());
    }

   private:
    bucket* where_ = nullptr;
    node* first_ = nullptr;
  };

  node* lookup(const scope& inside, std::uint64_t hash, std::string_view key,
               bytes** value = nullptr);
  chain_lock lock(std::uint64_t hash) noexcept;
  bool link_if_absent(const scope& inside, unlinked_node& fresh, std::string_view key,
                      chain_lock& held);
  void unlink_and_retire(chain_lock&& held, node* n);

  void counted_insert();
  void help_growth();
  static void move_bucket(bucket_array& from, bucket_array& to, std::size_t index) noexcept;

  table_of_nodes table_;
  striped_counter count_;
};

}  // namespace isotherm::index

#include "index/hash/hash_pugh_impl.hpp"
