// Inner nodes of the adaptive radix tree (Leis, Kemper, Neumann, ICDE 2013), read and locked by
// versions (version_lock.hpp).
//
//   node   version | kind, prefix length, count, 4 key bytes | prefix (<= 8 bytes) | terminal
//   node4        + 4 children                                        one cache line in all
//   node16       + 16 key bytes, 16 children
//   node48       + 256 positions, 48 children
//   node256      + 256 children
//
// A link is 0, an inner node's address, or a leaf's address | 1. The key that ends at a node has
// its leaf in `terminal`, so that no key needs a terminator byte. Prefixes are stored in full: one
// of more than 8 bytes takes a chain of nodes with one child (such chains are rare, and hot because
// many keys share them). In return no search has to read a leaf to know where it is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/atomic.hpp"
#include "index/version_lock.hpp"

namespace isotherm::index::art_detail {

using link = std::uintptr_t;

inline bool is_leaf(link l) noexcept { return (l & 1) != 0; }

enum class node_kind : std::uint8_t { n4, n16, n48, n256 };

inline constexpr unsigned kMaxPrefix = 8;

/// The first part of all inner nodes.
struct node {
  explicit node(node_kind k) noexcept : kind(k) {}

  version_lock version;
  const node_kind kind;
  base::atomic<std::uint8_t> prefix_length{0};  ///< 0..8
  base::atomic<std::uint16_t> count{0};         ///< children; the terminal is not one
  base::atomic<std::uint32_t> keys4{0};         ///< node4: byte i is child i's
  base::atomic<std::uint64_t> prefix{0};        ///< byte i of the word is byte i of the prefix
  base::atomic<link> terminal{0};               ///< leaf of the key that ends here
};
static_assert(sizeof(node) == 32);

struct node4 : node {
  node4() noexcept : node(node_kind::n4) {}
  base::atomic<link> children[4];
};
struct node16 : node {
  node16() noexcept : node(node_kind::n16) {}
  base::atomic<std::uint64_t> keys[2];
  base::atomic<link> children[16];
};
struct node48 : node {
  static constexpr std::uint8_t kNone = 0xff;
  node48() noexcept : node(node_kind::n48) {
    for (auto& p : positions) p.store_relaxed(kNone);
  }
  base::atomic<std::uint8_t> positions[256];
  base::atomic<link> children[48];
};
struct node256 : node {
  node256() noexcept : node(node_kind::n256) {}
  base::atomic<link> children[256];
};
static_assert(sizeof(node4) == base::kCacheLineBytes);

inline node* inner_of(link l) noexcept { return reinterpret_cast<node*>(l); }
inline link link_of(node* n) noexcept { return reinterpret_cast<link>(n); }

/// Up to 8 bytes of `key` from `depth`, byte i in bits 8i..8i+7, zeros behind its end.
inline std::uint64_t key_word(std::string_view key, std::size_t depth) noexcept {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, key.data() + depth, std::min<std::size_t>(8, key.size() - depth));
  return word;
}
inline std::uint8_t byte_at(std::uint64_t word, unsigned i) noexcept {
  return static_cast<std::uint8_t>(word >> (8 * i));
}
inline std::uint8_t byte_at(std::string_view key, std::size_t i) noexcept {
  return static_cast<std::uint8_t>(key[i]);
}

/// How many bytes of a prefix `key` matches at `depth`; `length` if all.
inline unsigned matched_prefix(std::uint64_t prefix, unsigned length, std::string_view key,
                               std::size_t depth) noexcept {
  if (length == 0) return 0;
  const std::uint64_t different = prefix ^ key_word(key, depth);
  const unsigned equal = different ? static_cast<unsigned>(std::countr_zero(different)) / 8 : 8;
  const auto rest = static_cast<unsigned>(std::min<std::size_t>(8, key.size() - depth));
  return std::min({equal, length, rest});
}

/// Place of the first byte of `word` that equals `byte`, or 8.
inline unsigned find_byte(std::uint64_t word, std::uint8_t byte) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101u, kTops = 0x8080808080808080u;
  const std::uint64_t zeros = word ^ (kOnes * byte);
  const std::uint64_t hit = (zeros - kOnes) & ~zeros & kTops;  // its lowest bit is exact
  return hit ? static_cast<unsigned>(std::countr_zero(hit)) / 8 : 8;
}

/// The link to the child for `byte`, or null. Optimistic callers validate before they use it.
inline base::atomic<link>* find_child(node* n, std::uint8_t byte) noexcept {
  switch (n->kind) {
    case node_kind::n4: {
      const unsigned i = find_byte(n->keys4.load_acquire(), byte);
      return i < n->count.load_acquire() && i < 4 ? &static_cast<node4*>(n)->children[i] : nullptr;
    }
    case node_kind::n16: {
      auto* m = static_cast<node16*>(n);
      unsigned i = find_byte(m->keys[0].load_acquire(), byte);
      if (i == 8) i = 8 + find_byte(m->keys[1].load_acquire(), byte);
      return i < n->count.load_acquire() && i < 16 ? &m->children[i] : nullptr;
    }
    case node_kind::n48: {
      auto* m = static_cast<node48*>(n);
      const std::uint8_t i = m->positions[byte].load_acquire();
      return i == node48::kNone ? nullptr : &m->children[i];
    }
    case node_kind::n256: {
      auto& child = static_cast<node256*>(n)->children[byte];
      return child.load_acquire() ? &child : nullptr;
    }
  }
  return nullptr;
}

/// A child and its byte; target == 0: there is none.
struct branch {
  unsigned byte = 0;
  link target = 0;
};

/// The child with the least byte >= `from` (0..256). Optimistic callers validate.
branch next_child(node* n, unsigned from) noexcept;
/// The child with the greatest byte < `limit` (0..256). Optimistic callers validate.
branch previous_child(node* n, unsigned limit) noexcept;

// The rest is only for the thread that holds the node's lock, or that alone can reach the node.

std::size_t size_of(node_kind kind) noexcept;
/// A node of `kind` in raw memory of size_of(kind) bytes.
node* construct(void* memory, node_kind kind) noexcept;
unsigned capacity_of(node_kind kind) noexcept;

/// Adds a child for a byte that has none, to a node that is not full.
void add_child(node* n, std::uint8_t byte, link child) noexcept;
void remove_child(node* n, std::uint8_t byte) noexcept;
void set_prefix(node* n, std::uint64_t word, unsigned length) noexcept;
/// Copies children, prefix and terminal of `from` into the empty node `to`, which has room for
/// them.
void copy_contents(node* to, node* from) noexcept;

inline bool is_full(const node* n) noexcept {
  return n->count.load_acquire() == capacity_of(n->kind);
}
inline node_kind larger(node_kind k) noexcept {
  return static_cast<node_kind>(static_cast<unsigned>(k) + 1);
}
/// The smaller kind that suits a node with so few children, or its own kind if it is full enough.
/// The ranges of kinds overlap, so that a node does not change back and forth.
node_kind fitting(const node* n) noexcept;
/// Number of children, the terminal included.
inline unsigned entries_of(const node* n) noexcept {
  return n->count.load_acquire() + (n->terminal.load_acquire() ? 1u : 0u);
}

}  // namespace isotherm::index::art_detail
