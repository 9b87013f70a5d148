// hash-harris: a lock-free hash table. Chains are T. Harris's linked lists ("A pragmatic
// implementation of non-blocking linked-lists", DISC 2001) in M. Michael's form ("High performance
// dynamic lock-free hash tables and list-based sets", SPAA 2002); they grow without moving a node
// because they are one list in split order (Shalev, Shavit, "Split-ordered lists: lock-free
// extensible hash tables", JACM 53(3), 2006):
//
//   list     d0 -> node -> node -> d2 -> node -> d1 -> ...   sorted by the reversed hash
//   buckets  [d0, d1, d2, ...]                               shortcuts into it, made on first use
//
// A key is erased when its node's value becomes null, so that all operations on one key synchronise
// on one word, the value's pointer. Then the node's link is marked, and every thread that meets the
// mark tries to unlink the node; the one that succeeds retires it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "index/common.hpp"
#include "index/hash/bucket_table.hpp"
#include "index/hash/keyed_hash.hpp"
#include "index/index.hpp"
#include "index/lock_free_writes.hpp"
#include "index/storage.hpp"

namespace isotherm::index {

/// A shortcut into hash-harris's list, and the first part of every node.
struct harris_place {
  explicit harris_place(std::uint64_t o) noexcept : order(o) {}
  base::atomic<std::uintptr_t> next{0};  ///< bit 0: this node is being unlinked, and its link does
                                         ///< not change any more
  const std::uint64_t order;             ///< odd: a node; even: a shortcut
};
template <class Storage>
struct harris_node : harris_place {
  using owned_bytes = typename Storage::owned_bytes;
  harris_node(std::uint64_t o, owned_bytes&& k, owned_bytes&& v) noexcept
      : harris_place(o), key(std::move(k)), value(std::move(v)) {}
  typename Storage::pointer key, value;
};

/// Unordered. All operations linearizable.
///
/// No operation waits for another thread: the algorithm is lock-free, and a search starts again
/// only where another operation has made progress. find() writes at most a bucket's shortcut, and
/// apart from making that never starts again. Around the algorithm, memory allocation and
/// sync::retire() take short locks (docs/indexes.md).
template <class Storage>
class hash_harris : public lock_free_writes<hash_harris<Storage>, Storage, harris_node<Storage>> {
  using place = harris_place;
  using node = harris_node<Storage>;
  using writes = lock_free_writes<hash_harris, Storage, node>;
  friend writes;

 public:
  static constexpr std::string_view kName = "hash-harris";

  explicit hash_harris(std::size_t expected_keys, const Storage& storage = {})
      : writes(storage), bucket_count_(std::bit_ceil(std::max(expected_keys, kMinBuckets))) {
    bucket_slot(0).store(reinterpret_cast<std::uint64_t>(&first_));
  }
  ~hash_harris();
  hash_harris(const hash_harris&) = delete;
  hash_harris& operator=(const hash_harris&) = delete;

  std::optional<std::string_view> find(access& inside, std::string_view key);

  std::uint64_t walk(access& inside, std::uint64_t cursor, const pair_visitor& visit);
  void clear();
  bool is_valid();

 private:
  using typename writes::unlinked_node;
  using writes::count_;
  using writes::storage_;
  using link = std::uintptr_t;

  /// The place where a key is, or where it belongs: *before leads to `at`.
  struct position {
    base::atomic<link>* before = nullptr;
    place* at = nullptr;
    bool is_found = false;
    std::uint64_t order = 0;  ///< of the key
    node* found() const noexcept { return static_cast<node*>(at); }
  };

  static constexpr std::size_t kMinBuckets = 64;
  static constexpr std::size_t kPieceKeys = 16, kPiecePlaces = 256;
  static constexpr std::int64_t kInsertsPerLook = 64;
  static constexpr unsigned kSegments = 48;
  static constexpr link kMark = 1;

  static place* place_of(link l) noexcept { return reinterpret_cast<place*>(l & ~kMark); }
  static link link_to(place* p) noexcept { return reinterpret_cast<link>(p); }
  static bool is_node(const place* p) noexcept { return (p->order & 1) != 0; }
  static std::uint64_t node_order(std::uint64_t hash) noexcept { return reverse_bits(hash) | 1; }
  /// Acquire: pairs with the compare-and-swap that linked the next one.
  static place* next_of(place* p) noexcept { return place_of(p->next.load_acquire()); }

  bucket& bucket_slot(std::uint64_t index);
  place* bucket_start(std::uint64_t index) {
    return reinterpret_cast<place*>(bucket_slot(index).load());
  }
  place* start_of(access& inside, std::uint64_t hash);
  place* make_bucket(access& inside, std::uint64_t index);

  /// `key` is null when a shortcut is searched for; then no node is found.
  position locate(access& inside, place* start, std::uint64_t order, const std::string_view* key);
  position locate(access& inside, std::string_view key) {
    const std::uint64_t hash = hash_of(key);
    return locate(inside, start_of(inside, hash), node_order(hash), &key);
  }
  static node* found(const position& at) noexcept { return at.is_found ? at.found() : nullptr; }
  unlinked_node make(const position& at, std::string_view key, const content& value) {
    return make_entry<node>(storage_, {kBelowTable}, key, value, at.order);
  }
  bool attach(access&, const position& at, std::string_view, node* created);
  void take_out(access& inside, node* gone);
  void remove(access& inside, const position& at, std::string_view) {
    take_out(inside, at.found());
  }
  void help(access& inside, const position& at, std::string_view) { take_out(inside, at.found()); }

  place first_{0};  // the shortcut of bucket 0
  base::atomic<std::size_t> bucket_count_;
  base::atomic<bucket*> segments_[kSegments];  // of 1, 1, 2, 4, ... buckets, made on first use
};

}  // namespace isotherm::index
