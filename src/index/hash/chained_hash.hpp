// The common part of hash-pugh and hash-chm on top of growing_table: searches take no lock; a write
// (optimistic_writes.hpp) locks the chain and checks it again. Each table decides what locks a
// chain, and how a bucket moves under that lock.
#pragma once

#include "index/common.hpp"
#include "index/hash/growing_table.hpp"
#include "index/hash/keyed_hash.hpp"
#include "index/index.hpp"
#include "index/optimistic_writes.hpp"
#include "index/storage.hpp"

namespace isotherm::index {

/// Base of a `Table`, which offers it:
///   chain_lock                       holds a chain, or nothing, until it is destroyed:
///     first(), holds(n)              the chain's first node, null if empty; whether `n` is in it
///     link(n)                        false: the chain was empty, so not locked, and no longer is
///     unlink(n)
///   lock(hash)                       waits for the lock of the chain
///   move_bucket(from, to, index)     what growing_table::help_growth() calls
///   most_keys(buckets)               number of keys beyond which the table doubles
///   is_at_rest(n)                    what is_valid() asks of a node, beside no other operation
template <class Table, class Storage, class Node>
class chained_hash : public optimistic_writes<chained_hash<Table, Storage, Node>, Storage, Node> {
  using writes = optimistic_writes<chained_hash, Storage, Node>;
  friend writes;

 public:
  std::optional<std::string_view> find(access& inside, std::string_view key) {
    bytes* value = nullptr;
    if (!lookup(inside, hash_of(key), key, &value) || !value) return std::nullopt;
    return value->view();
  }
  std::uint64_t walk(access& inside, std::uint64_t cursor, const pair_visitor& visit) {
    return table_.walk(inside, cursor, visit);
  }
  bool is_valid();

 protected:
  using table_of_nodes = growing_table<Storage, Node>;
  using bucket_array = typename table_of_nodes::table;

  chained_hash(std::size_t expected_buckets, const Storage& storage)
      : writes(storage), table_(expected_buckets, storage) {}
  void help_growth() { table_.help_growth(&Table::move_bucket); }

  table_of_nodes table_;
  using writes::count_;

 private:
  using typename writes::unlinked_entry;

  /// The place where a search for a key ended, and the lock of the chain once that is taken. A
  /// template, because Table is incomplete where its base class is instantiated.
  template <class T>
  struct position_of {
    std::uint64_t hash;
    Node* found;
    typename T::chain_lock held;
  };

  static constexpr std::int64_t kInsertsPerLook = 64;  // between two checks whether to grow

  Table& self() noexcept { return static_cast<Table&>(*this); }
  Node* lookup(access& inside, std::uint64_t hash, std::string_view key, bytes** value = nullptr);

  auto locate(access& inside, std::string_view key) {
    const std::uint64_t hash = hash_of(key);
    return position_of<Table>{hash, lookup(inside, hash, key), {}};
  }
  template <class Position>
  static Node* found(access&, const Position& at, std::string_view) noexcept {
    return at.found;
  }
  template <class Position>
  unlinked_entry make(const Position& at, std::string_view key, const content& value) {
    return make_entry<Node>(this->storage_, {kBelowTable}, key, value, at.hash);
  }
  template <class Position>
  bool try_lock(access&, Position& at, std::string_view) {
    at.held = self().lock(at.hash);
    if (at.held.holds(at.found)) return true;
    unlock(at);
    return false;
  }
  template <class Position>
  static void unlock(Position& at) noexcept {
    at.held = {};
  }
  template <class Position>
  bool attach(access& inside, const Position& at, std::string_view key, Node* created) {
    auto held = self().lock(at.hash);
    if (search_chain(inside, held.first(), at.hash, key)) return false;
    return held.link(created);
  }
  void after_insert(std::int64_t n) {
    if (n % kInsertsPerLook == 0) table_.consider_growth(count_.sum(), &Table::most_keys);
    help_growth();
  }
  template <class Position>
  void detach(access&, Position& at, std::string_view) {
    at.held.unlink(at.found);
    unlock(at);
    retire_node<Storage>(at.found);
    help_growth();
  }
};

template <class Table, class Storage, class Node>
Node* chained_hash<Table, Storage, Node>::lookup(access& inside, std::uint64_t hash,
                                                 std::string_view key, bytes** value) {
  return table_.find(
      hash, [&](Node* n) { return is_node_of(inside, n, hash, key, value); },
      [&] { help_growth(); });
}

template <class Table, class Storage, class Node>
bool chained_hash<Table, Storage, Node>::is_valid() {
  access inside;
  std::size_t nodes = 0;
  const bool is_sound = table_.all_of([&](Node* n, Node* first, auto& table, std::size_t index) {
    const auto key = read(n->key, inside);
    ++nodes;
    return key && n->hash == hash_of(*key) && (n->hash & table.mask()) == index &&
           Table::is_at_rest(n) && !n->value.is_null() &&
           search_chain(inside, first, n->hash, *key) == n;
  });
  return is_sound && nodes == this->size();
}

}  // namespace isotherm::index
