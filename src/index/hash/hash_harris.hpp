// hash-harris: a lock-free hash table. Chains are T. Harris's linked lists ("A pragmatic
// implementation of non-blocking linked-lists", DISC 2001) in M. Michael's form ("High performance
// dynamic lock-free hash tables and list-based sets", SPAA 2002); they grow without moving a node
// because they are one list in split order (Shalev, Shavit, "Split-ordered lists: lock-free
// extensible hash tables", JACM 53(3), 2006):
//
//   list     d0 -> node -> node -> d2 -> node -> d1 -> ...   sorted by the reversed hash
//   buckets  [d0, d1, d2, ...]                               shortcuts into it, made on first use
//
// A key is erased when its node's value becomes empty; all operations on one key thereby meet in
// one word, the value's holder. Then the node's link is marked, and whoever sees the mark unlinks
// the node; who succeeds retires it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "index/common.hpp"
#include "index/hash/bucket_table.hpp"
#include "index/holding.hpp"
#include "index/index.hpp"

namespace isotherm::index {

/// Unordered. All operations linearizable.
///
/// Nobody waits for another thread: its own algorithm is lock-free, and begins a search again only
/// where another operation has got further meanwhile. find() writes at most a bucket's shortcut;
/// past it, it never begins again. Around the algorithm, memory allocation and sync::retire() take
/// short locks (docs/indexes.md).
template <class Holding>
class hash_harris {
 public:
  static constexpr std::string_view kName = "hash-harris";

  explicit hash_harris(std::size_t expected_keys)
      : bucket_count_(std::bit_ceil(std::max(expected_keys, kMinBuckets))) {
    bucket_slot(0).store(reinterpret_cast<std::uint64_t>(&first_));
  }
  ~hash_harris();
  hash_harris(const hash_harris&) = delete;
  hash_harris& operator=(const hash_harris&) = delete;

  std::optional<std::string_view> find(const scope& inside, std::string_view key);
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
  using link = std::uintptr_t;

  /// A shortcut into the list, and what every node begins with.
  struct place {
    explicit place(std::uint64_t o) noexcept : order(o) {}
    base::atomic<link> next{0};  ///< bit 0: this node is being unlinked, and its link stays
    const std::uint64_t order;   ///< odd: a node; even: a shortcut
  };
  struct node : place {
    node(std::uint64_t o, holder&& k, holder&& v) noexcept
        : place(o), key(std::move(k)), value(std::move(v)) {}
    holder key, value;
  };
  using unlinked_node = unlinked<Holding, node>;

  /// Where a key is, or where it belongs: *before leads to `at`.
  struct position {
    base::atomic<link>* before = nullptr;
    place* at = nullptr;
    bool is_found = false;
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
  static unlinked_node make_unlinked(std::uint64_t order, std::string_view key,
                                     std::string_view value);

  bucket& bucket_slot(std::uint64_t index);
  place* bucket_start(std::uint64_t index) {
    return reinterpret_cast<place*>(bucket_slot(index).load());
  }
  place* start_of(const scope& inside, std::uint64_t hash);
  place* make_bucket(const scope& inside, std::uint64_t index);

  /// `key` is null when a shortcut is looked for.
  position locate(const scope& inside, place* start, std::uint64_t order,
                  const std::string_view* key);
  bool link_at(const position& at, unlinked_node& fresh);
  void remove_dead(const scope& inside, node* n, std::string_view key, std::uint64_t hash);
  bool kill(const scope& inside, node* n, const bytes* current);

  place first_{0};  // of bucket 0
  base::atomic<std::size_t> bucket_count_;
  base::atomic<bucket*> segments_[kSegments];  // 1, 1, 2, 4, ... buckets: places, made on first use
  striped_counter count_;
};

}  // namespace isotherm::index

#include "index/hash/hash_harris_impl.hpp"
