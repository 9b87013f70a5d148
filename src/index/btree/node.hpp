// Nodes of the B+trees.
//
//   leaf    latch, skip, count, uses | 63 starts | 63 entries              1 KiB each
//   inner   latch, skip, count       | 41 starts | 41 separators | 42 children
//   entry   key, value: tree_entry (optimistic_writes.hpp)
//
// All keys under a node lie between the two separators left and right of it (its fences), so that
// they share the bytes that the fences share; `skip` counts those, and a start is the 8 bytes
// behind them (Graefe and Larson, "B-tree indexes and CPU caches", ICDE 2001: normalized key
// prefixes with prefix truncation). A search then compares numbers, and reads the key that it finds
// and hardly any other: the other keys stay cold. A separator is the shortest string that tells two
// leaves apart (Bayer and Unterauer, "Prefix B-trees", TODS 2(1), 1977).
//
// A node's fences, and so its skip, never change: a node that splits or merges is replaced.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/atomic.hpp"
#include "index/common.hpp"
#include "index/key_slice.hpp"
#include "index/optimistic_writes.hpp"
#include "index/version_lock.hpp"

namespace isotherm::index::btree_detail {

/// The text that separates two children: immutable, followed in memory by its bytes.
struct separator {
  explicit separator(std::string_view t) noexcept : length(static_cast<std::uint32_t>(t.size())) {
    if (!t.empty()) std::memcpy(reinterpret_cast<char*>(this + 1), t.data(), t.size());
  }
  std::string_view view() const noexcept {
    return {reinterpret_cast<const char*>(this + 1), length};
  }
  const std::uint32_t length;
};

inline constexpr unsigned kLeafCapacity = 63, kInnerCapacity = 41;  // 1 KiB each
using start_array = base::atomic<std::uint64_t>;

enum class node_kind : std::uint8_t { leaf, inner };

/// The first part of both kinds of nodes.
template <class Latch>
struct node {
  node(node_kind kind, std::size_t shared) noexcept
      : skip(static_cast<std::uint16_t>(std::min<std::size_t>(shared, 0xffff))),
        is_leaf(kind == node_kind::leaf) {}
  [[no_unique_address]] Latch latch;
  const std::uint16_t skip;  ///< of longer common texts, the rest is compared
  base::atomic<std::uint16_t> count{0};
  const bool is_leaf;
};

template <class Latch, class Storage>
struct leaf : node<Latch> {
  static constexpr unsigned kCapacity = kLeafCapacity;
  explicit leaf(std::size_t skipped) noexcept : node<Latch>(node_kind::leaf, skipped) {}
  [[no_unique_address]] typename Storage::use_count uses;
  start_array starts[kCapacity];
  base::atomic<tree_entry<Storage>*> entries[kCapacity];
};

template <class Latch>
struct inner : node<Latch> {
  static constexpr unsigned kCapacity = kInnerCapacity;
  explicit inner(std::size_t skipped) noexcept : node<Latch>(node_kind::inner, skipped) {}
  start_array starts[kCapacity];
  base::atomic<const separator*> separators[kCapacity];
  base::atomic<node<Latch>*> children[kCapacity + 1];
};

static_assert(sizeof(leaf<version_lock, placed<managed>>) == 1024);
static_assert(sizeof(inner<version_lock>) <= 1024 && sizeof(inner<no_version_lock>) <= 1024);

/// Prefetches the lines that a search in `n` may touch, all at once rather than one after another.
template <class Latch>
void prefetch_starts(const node<Latch>* n) noexcept {
  constexpr std::size_t kBytes = sizeof(node<Latch>) + kInnerCapacity * sizeof(start_array);
  for (std::size_t at = 0; at < kBytes; at += base::kCacheLineBytes) {
    prefetch(reinterpret_cast<const char*>(n) + at);
  }
}

/// The 8 bytes of `key` behind the first `skip`. A key that has reached a node during a concurrent
/// change may be shorter than `skip`; the search then fails to validate and drops what it found.
inline std::uint64_t start_of(std::string_view key, std::size_t skip) noexcept {
  return key.size() <= skip ? 0 : key_slice(key, skip);
}

inline std::size_t common_prefix(std::string_view a, std::string_view b) noexcept {
  const std::size_t limit = std::min(a.size(), b.size());
  std::size_t length = 0;
  while (length < limit && a[length] == b[length]) ++length;
  return length;
}
/// Number of bytes that all keys between two fences share; null: no fence on that side.
inline std::size_t skip_between(const separator* low, const separator* high) noexcept {
  return low && high ? common_prefix(low->view(), high->view()) : 0;
}

/// First of `count` places whose start is not less than `wanted`. Does not branch on the data.
inline unsigned first_not_less(const start_array* starts, unsigned count,
                               std::uint64_t wanted) noexcept {
  unsigned at = 0;
  while (count > 1) {
    const unsigned half = count / 2;
    at += starts[at + half - 1].load_acquire() < wanted ? half : 0;
    count -= half;
  }
  return at + (count == 1 && starts[at].load_acquire() < wanted ? 1 : 0);
}

/// The place where a key is in a node, or where it belongs.
struct place {
  unsigned at = 0;
  bool is_equal = false;
};

/// Finds the place of a key. `text_at(i)` is the whole key at place i, or nullopt where it could
/// not be had, and is called only where the starts are equal.
template <class TextAt>
place find_place(const start_array* starts, unsigned count, std::uint64_t start,
                 std::string_view text, TextAt text_at) {
  unsigned at = first_not_less(starts, count, start);
  unsigned end = at;
  while (end < count && starts[end].load_acquire() == start) ++end;
  while (at < end) {
    const unsigned middle = (at + end) / 2;
    const std::strong_ordering order = text_at(middle) <=> text;
    if (order == 0) return {middle, true};
    if (order < 0) {
      at = middle + 1;
    } else {
      end = middle;
    }
  }
  return {at, false};
}

/// Moves the `count` - `at` elements from place `at` on up by one. For the thread that holds the
/// lock.
template <class T>
void open_gap(base::atomic<T>* array, unsigned at, unsigned count) noexcept {
  for (unsigned i = count; i > at; --i) array[i].store_release(array[i - 1].load_relaxed());
}
/// Moves the elements behind place `at` down by one.
template <class T>
void close_gap(base::atomic<T>* array, unsigned at, unsigned count) noexcept {
  for (unsigned i = at; i + 1 < count; ++i) array[i].store_release(array[i + 1].load_relaxed());
}

}  // namespace isotherm::index::btree_detail
