// The table of chains under hash-pugh and hash-chm, and the way in which it doubles.
//
//   word of a bucket    address of the first node | locked | moving
//     moving + address  its chain is being split over two buckets of the next table
//     moving            the next table has it; never changes again
//
// Buckets move one by one and whoever passes by helps, so that no operation pays for the whole
// table. Only old bucket b feeds new buckets b and b + size (sizes are powers of two), hence nobody
// looks at those two before old b says "moved". Chains are linked anew in place: a hit is a hit all
// the same, and a miss counts only when the bucket's word, read again, shows no move (Triplett,
// McKenney, Walpole, USENIX ATC 2011, argue alike for in-place unzipping).
//
// How a bucket is locked is the structure's own affair; so is the rest of moving it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "index/hash/bucket_table.hpp"
#include "index/index.hpp"
#include "index/storage.hpp"

namespace isotherm::index {

/// Whether `n` has the key; then, with `value`, what its value is.
template <class Node>
bool is_node_of(const scope& inside, Node* n, std::uint64_t hash, std::string_view key,
                bytes** value = nullptr) {
  if (n->hash != hash) return false;
  const bytes* held = n->key.get(inside);
  if (value) {
    *value = n->value.get(inside);  // asked for before the keys are compared: two misses overlap
    prefetch(*value);
  }
  return held->view() == key;
}

/// The node of a chain that has the key, or null.
template <class Node>
Node* search_chain(const scope& inside, Node* first, std::uint64_t hash, std::string_view key,
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
  /// Nodes too.
  ~growing_table();
  growing_table(const growing_table&) = delete;
  growing_table& operator=(const growing_table&) = delete;

  static Node* first_of(std::uint64_t word) noexcept {
    return reinterpret_cast<Node*>(word & ~bucket::kFlags);
  }
  static std::uint64_t word_of(const Node* n) noexcept {
    return reinterpret_cast<std::uint64_t>(n);
  }

  /// The table in which every search begins. Its `next` is where moved buckets are.
  table* load() const noexcept { return newest_complete_.load_acquire(); }

  /// The first node of the hash's chain for which `matches(node)`, or null.
  template <class Matches, class Help>
  Node* find(std::uint64_t hash, Matches matches, Help help);

  /// Begins to grow if there are more than `limit(buckets)` keys.
  template <class Limit>
  void consider_growth(std::size_t keys, Limit limit);
  /// Moves some buckets if the table grows, each by `move(from, to, index)`.
  template <class Move>
  void help_growth(Move move);

  /// Links the chain's nodes anew, in their order, in two chains: those without and those with the
  /// `bit` in their hash. For the thread that holds its lock. A search beside it sees the bucket's
  /// kMoving once it has followed a changed link; links only ever skip forwards, so that it does
  /// not turn in circles.
  static std::array<Node*, 2> split(Node* first, std::size_t bit) noexcept;

  /// Calls `empty(bucket)` for every bucket; where it answers false, because the bucket has moved,
  /// for the two of the next table. Never for a bucket of the next table while the old one, in the
  /// midst of its move, still leads to the same nodes: they could not be retired.
  template <class Empty>
  void empty_buckets(Empty empty) {
    table* const at = load();
    for (std::size_t i = 0; i < at->size(); ++i) empty_bucket(at, i, empty);
  }

  /// any_index::walk(). A piece is some buckets: until it has some pairs, or some hundred buckets
  /// were empty. When `visit` ends it, the walk goes on at the bucket in which it ended.
  std::uint64_t walk(const scope& inside, std::uint64_t cursor, const visitor& visit);

  /// Calls `check(node, first, table, index)` for every node; false when one of them is.
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
Node* growing_table<Storage, Node>::find(std::uint64_t hash, Matches matches, Help help) {
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
    // A miss in a chain that is being split proves nothing.
    if (!n && (where.load() & bucket::kMoving)) [[unlikely]] {
      wait();
      continue;
    }
    // Without writers the readers finish the growth, or all would pay two tables for ever.
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
  // A table is forgotten only after its next one was set, so a null here is for good.
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
  // Looked at first: until the last mover is done, every operation comes by here, and must not
  // write to a line that all others write to.
  if (at->claimed.load_relaxed() >= at->size()) return;
  const std::size_t begin = at->claimed.fetch_add_relaxed(kMovesAtOnce);
  if (begin >= at->size()) return;
  for (std::size_t i = begin; i < begin + kMovesAtOnce; ++i) move(*at, *next, i);
  // Acquire and release: the last one forgets a table that all others are done with.
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
std::uint64_t growing_table<Storage, Node>::walk(const scope& inside, std::uint64_t cursor,
                                                 const visitor& visit) {
  table* at = load();
  std::vector<Node*> found;
  std::size_t visited = 0;
  for (std::size_t buckets = 0; buckets < kPieceBuckets && visited < kPieceKeys; ++buckets) {
    found.clear();
    collect(at, cursor & at->mask(), found);
    for (Node* n : found) {
      if (!visit(n->key.peek(inside)->view(), n->value.peek(inside)->view())) return cursor;
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
