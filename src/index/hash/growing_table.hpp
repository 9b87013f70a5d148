// The table of chains of hash-pugh and hash-chm, and how it doubles.
//
//   word of a bucket    address of the first node | locked | moving
//     moving + address  its chain is being split over two buckets of the next table
//     moving            the next table has it; never changes again
//
// Buckets move one by one, and every operation that meets a growing table helps, so that none pays
// for the whole table. Sizes are powers of two: buckets b and b + size of the next table get nodes
// only from bucket b of this one, and no thread looks at those two before bucket b says that it has
// moved. Chains are split in place. A search that finds its key in a chain being split is right; a
// miss counts only if the bucket's word, read again, shows no move (Triplett, McKenney, Walpole,
// USENIX ATC 2011, argue so for in-place unzipping).
//
// How a bucket is locked, and the rest of moving it, is left to the structure.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "index/hash/bucket_table.hpp"
#include "index/index.hpp"
#include "index/storage.hpp"

namespace isotherm::index {

/// Whether `n` has the key; if so, and if `value` is not null, `*value` is its value.
template <class Node>
bool is_node_of(access& inside, Node* n, std::uint64_t hash, std::string_view key,
                bytes** value = nullptr) {
  if (n->hash != hash) return false;
  const bytes* held = n->key.get(inside);
  if (value) {
    *value = n->value.get(inside);  // before the keys are compared: the two cache misses overlap
    prefetch(*value);
  }
  return held && held->view() == key;
}

/// The node of a chain that has the key, or null.
template <class Node>
Node* search_chain(access& inside, Node* first, std::uint64_t hash, std::string_view key,
                   bytes** value = nullptr) {
  Node* n = first;
  while (n && !is_node_of(inside, n, hash, key, value)) n = n->next();
  return n;
}

/// `Node` has a hash, a key, a value, next(), which acquires, and set_next(), which releases.
template <class Storage, class Node>
class growing_table {
 public:
  using table = bucket_table<Storage>;

  growing_table(std::size_t expected_keys, const Storage& storage)
      : storage_(storage),
        newest_complete_(
            table::make(storage, std::bit_ceil(std::max(expected_keys, kMinBuckets)))) {}
  /// Destroys the nodes too.
  ~growing_table();
  growing_table(const growing_table&) = delete;
  growing_table& operator=(const growing_table&) = delete;

  static Node* first_of(std::uint64_t word) noexcept {
    return reinterpret_cast<Node*>(word & ~bucket::kFlags);
  }
  static std::uint64_t word_of(const Node* n) noexcept {
    return reinterpret_cast<std::uint64_t>(n);
  }

  /// The table in which every search begins. Its `next` has the buckets that have moved.
  table* load() const noexcept { return newest_complete_.load_acquire(); }

  /// The first node of the hash's chain for which `matches(node)`, or null. Calls `help()` after it
  /// has met a bucket that has moved. Inlined, as each look-up is a call of it.
  template <class Matches, class Help>
  [[gnu::always_inline]] Node* find(std::uint64_t hash, Matches matches, Help help);

  /// Begins to grow if `keys` is greater than `limit(buckets)`.
  template <class Limit>
  void consider_growth(std::size_t keys, Limit limit);
  /// Moves some buckets if the table grows, each by `move(from, to, index)`.
  template <class Move>
  void help_growth(Move move);

  /// Splits a chain in place into two, keeping the order: the nodes without and the nodes with
  /// `bit` in their hash. For the thread that holds the chain's lock. A concurrent search that has
  /// followed a changed link sees kMoving in the bucket; links only ever skip forwards, so that it
  /// cannot run in a circle.
  static std::array<Node*, 2> split(Node* first, std::size_t bit) noexcept;

  /// Calls `empty(bucket)` for every bucket; if it returns false, because the bucket has moved,
  /// calls it for the two buckets of the next table. Never calls it for a bucket of the next table
  /// while the old bucket, not yet fully moved, still leads to the same nodes: these could not be
  /// retired.
  template <class Empty>
  void empty_buckets(Empty empty) {
    table* const at = load();
    for (std::size_t i = 0; i < at->size(); ++i) empty_bucket(at, i, empty);
  }

  /// any_index::walk(). A piece is a number of buckets: until they have some pairs, or some hundred
  /// of them were empty. When `visit` ends a walk, it goes on at the bucket in which it ended.
  std::uint64_t walk(access& inside, std::uint64_t cursor, const pair_visitor& visit);

  /// Calls `check(node, first, table, index)` for every node; false as soon as one call returns
  /// false.
  template <class Check>
  bool all_of(Check check);

 private:
  static constexpr std::size_t kMinBuckets = 64;
  static constexpr std::size_t kMovesAtOnce = 16;  // buckets moved by an operation that helps
  static constexpr std::size_t kPieceKeys = 16, kPieceBuckets = 256;

  template <class Empty>
  static void empty_bucket(table* in, std::size_t index, Empty& empty);
  static void collect(table* in, std::uint64_t index, std::vector<Node*>& out);

  [[no_unique_address]] const Storage storage_;
  base::atomic<table*> newest_complete_;
  base::atomic<bool> is_allocating_{false};  // one thread allocates the next table
};

template <class Storage, class Node>
growing_table<Storage, Node>::~growing_table() {
  for (table* at = load(); at;) {
    for (std::size_t i = 0; i < at->size(); ++i) {
      for (Node* n = first_of(at->at(i).load()); n;) {
        destroy_node<Storage>(std::exchange(n, n->next()));
      }
    }
    table::destroy(std::exchange(at, at->next.load_acquire()));
  }
}

template <class Storage, class Node>
template <class Matches, class Help>
inline Node* growing_table<Storage, Node>::find(std::uint64_t hash, Matches matches, Help help) {
  table* at = load();
  bool met_growth = false;
  backoff wait;
  for (;;) {
    bucket& where = at->at(hash);
    const std::uint64_t word = where.load();
    if (word == bucket::kMoving) [[unlikely]] {
      at = at->next.load_acquire();
      met_growth = true;
      continue;
    }
    Node* n = first_of(word);
    while (n && !matches(n)) n = n->next();
    // A miss in a chain that is being split does not prove that the key is absent.
    if (!n && (where.load() & bucket::kMoving)) [[unlikely]] {
      wait();
      continue;
    }
    // Readers help too: without writers the table would never finish growing, and every search
    // would look at two tables.
    if (met_growth) [[unlikely]]
      help();
    return n;
  }
}

template <class Storage, class Node>
template <class Limit>
void growing_table<Storage, Node>::consider_growth(std::size_t keys, Limit limit) {
  table* at = load();
  if (at->next.load_acquire() || keys <= limit(at->size())) return;
  bool expected = false;
  if (!is_allocating_.compare_exchange_acq_rel(expected, true)) return;
  // A table is replaced only after its `next` was set: if it is null here, `at` is the newest
  // table.
  if (!at->next.load_acquire()) {
    at->next.store_release(table::make(storage_, at->size() * 2));
  }
  is_allocating_.store_release(false);
}

template <class Storage, class Node>
template <class Move>
void growing_table<Storage, Node>::help_growth(Move move) {
  table* at = load();
  table* next = at->next.load_acquire();
  if (!next) [[likely]]
    return;
  // Read first: until the last bucket has moved every operation comes here, and must not write to a
  // line that all others write to.
  if (at->claimed.load_relaxed() >= at->size()) return;
  const std::size_t begin = at->claimed.fetch_add_relaxed(kMovesAtOnce);
  if (begin >= at->size()) return;
  for (std::size_t i = begin; i < begin + kMovesAtOnce; ++i) move(*at, *next, i);
  // Acquire and release: the thread that counts the last buckets retires a table that no other
  // thread moves buckets of.
  if (at->moved.fetch_add_acq_rel(kMovesAtOnce) + kMovesAtOnce < at->size()) return;
  newest_complete_.store_release(next);
  sync::retire(at, &table::destroy);
}

template <class Storage, class Node>
std::array<Node*, 2> growing_table<Storage, Node>::split(Node* first, std::size_t bit) noexcept {
  std::array<Node*, 2> heads{}, tails{};
  for (Node* n = first; n;) {
    Node* following = n->next();
    const bool high = (n->hash & bit) != 0;
    if (tails[high]) {
      tails[high]->set_next(n);
    } else {
      heads[high] = n;
    }
    tails[high] = n;
    n = following;
  }
  for (Node* tail : tails) {
    if (tail) tail->set_next(nullptr);
  }
  return heads;
}

template <class Storage, class Node>
template <class Empty>
void growing_table<Storage, Node>::empty_bucket(table* in, std::size_t index, Empty& empty) {
  if (empty(in->at(index))) return;
  table* const next = in->next.load_acquire();
  empty_bucket(next, index, empty);
  empty_bucket(next, index + in->size(), empty);
}

template <class Storage, class Node>
void growing_table<Storage, Node>::collect(table* in, std::uint64_t index,
                                           std::vector<Node*>& out) {
  backoff wait;
  const std::size_t before = out.size();
  for (;;) {
    bucket& where = in->at(index);
    const std::uint64_t word = where.load();
    if (word == bucket::kMoving) {
      table* next = in->next.load_acquire();
      collect(next, index, out);
      collect(next, index + in->size(), out);
      return;
    }
    for (Node* n = first_of(word); n; n = n->next()) out.push_back(n);
    if (!(where.load() & bucket::kMoving)) return;
    out.resize(before);
    wait();
  }
}

template <class Storage, class Node>
std::uint64_t growing_table<Storage, Node>::walk(access& inside, std::uint64_t cursor,
                                                 const pair_visitor& visit) {
  table* at = load();
  std::vector<Node*> found;
  std::size_t visited = 0;
  for (std::size_t buckets = 0; buckets < kPieceBuckets && visited < kPieceKeys; ++buckets) {
    found.clear();
    collect(at, cursor & at->mask(), found);
    for (Node* n : found) {
      const auto value = read_value(n->value, inside, reading::peek);
      if (!visit(read(n->key, inside, reading::peek), value)) return cursor;
      ++visited;
    }
    cursor = next_cursor(cursor, at->mask());
    if (cursor == 0) break;
  }
  return cursor;
}

template <class Storage, class Node>
template <class Check>
bool growing_table<Storage, Node>::all_of(Check check) {
  for (table* at = load(); at; at = at->next.load_acquire()) {
    for (std::size_t i = 0; i < at->size(); ++i) {
      const std::uint64_t word = at->at(i).load();
      if (word == bucket::kMoving) continue;
      if (word & bucket::kFlags) return false;
      for (Node* n = first_of(word); n; n = n->next()) {
        if (!check(n, first_of(word), *at, i)) return false;
      }
    }
  }
  return true;
}

}  // namespace isotherm::index
