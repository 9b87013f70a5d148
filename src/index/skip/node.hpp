// The common part of the skip lists (Pugh, "Skip lists: a probabilistic alternative to balanced
// trees", CACM 1990): nodes with a tower of links, levels drawn with p = 1/4, and the order of
// keys.
//
// A node keeps the first 12 bytes of its key as numbers: most comparisons on the way down are then
// made without dereferencing the key, which stays cold and costs no cache miss. It is twelve
// because keys often begin alike ("user..."), and eight bytes would tell few of them apart.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>

#include "base/random.hpp"
#include "index/common.hpp"
#include "index/key_slice.hpp"
#include "index/storage.hpp"

namespace isotherm::index::skip_detail {

inline constexpr unsigned kMaxHeight = 14;  // enough for 4^14 keys

/// The first 12 bytes of a key, with zeros behind its end. a < b implies start(a) <= start(b).
struct key_start {
  explicit key_start(std::string_view key) noexcept
      : first(key_slice(key)),
        rest(key.size() > 8 ? static_cast<std::uint32_t>(key_slice(key, 8) >> 32) : 0) {}
  constexpr key_start(std::uint64_t f, std::uint32_t r) noexcept : first(f), rest(r) {}
  auto operator<=>(const key_start&) const = default;
  std::uint64_t first;
  std::uint32_t rest;
};

/// A key that is searched for.
struct wanted_key {
  explicit wanted_key(std::string_view k) noexcept : text(k), start(k) {}
  /// A bound behind all keys.
  static wanted_key end() noexcept {
    wanted_key k{std::string_view()};
    k.start = {~std::uint64_t{0}, ~std::uint32_t{0}};
    k.is_end = true;
    return k;
  }
  std::string_view text;
  key_start start;
  bool is_end = false;
};

/// A node's height: 1 with probability 3/4, 2 with 3/16, ...
inline unsigned random_height() noexcept {
  thread_local base::random random(reinterpret_cast<std::uintptr_t>(&random));
  const auto pairs =
      static_cast<unsigned>(std::countr_zero(random() | (std::uint64_t{1} << 63))) / 2;
  return std::min(pairs + 1, kMaxHeight);
}

/// A node, followed in memory by `height` links. `State` is what the algorithm adds: at most three
/// bytes, so that it fills one word together with height and start_rest.
template <class Storage, class State>
struct node : State {
  using owned_bytes = typename Storage::owned_bytes;
  using link = base::atomic<std::uintptr_t>;

  /// The list's head, before all keys.
  static node* make_head(const Storage& storage) {
    return make(storage, kMaxHeight, {0, 0}, owned_bytes(), owned_bytes());
  }
  /// Null when memory is exhausted.
  static unlinked<Storage, node> make(const Storage& storage, std::string_view key,
                                      const content& value) {
    auto held_key = storage.make(key);
    auto held_value = storage.make(value);
    if (!held_key || !held_value) return nullptr;
    return unlinked<Storage, node>(
        make(storage, random_height(), key_start(key), std::move(held_key), std::move(held_value)));
  }

  link& next(unsigned level) noexcept { return reinterpret_cast<link*>(this + 1)[level]; }
  node* next_node(unsigned level) noexcept {
    // Acquire: pairs with the release that linked the node, publishing its contents.
    return reinterpret_cast<node*>(next(level).load_acquire());
  }
  void set_next(unsigned level, node* n) noexcept {
    next(level).store_release(reinterpret_cast<std::uintptr_t>(n));
  }

  /// The order of this node's key and `k`: less if the node comes first. Not for the head.
  std::strong_ordering compare(access& inside, const wanted_key& k,
                               reading how = reading::use) const {
    if (const auto order = start() <=> k.start; order != 0) return order;
    if (k.is_end) return std::strong_ordering::less;
    return read(key, inside, how) <=> k.text;
  }

  key_start start() const noexcept { return {start_first, start_rest}; }

  const std::uint8_t height;
  const std::uint32_t start_rest;
  const std::uint64_t start_first;
  typename Storage::pointer key, value;

 private:
  node(unsigned h, const key_start& s, owned_bytes&& k, owned_bytes&& v) noexcept
      : height(static_cast<std::uint8_t>(h)),
        start_rest(s.rest),
        start_first(s.first),
        key(std::move(k)),
        value(std::move(v)) {
    static_assert(sizeof(node) == 32, "no byte more, and none between");
    for (unsigned i = 0; i < h; ++i) ::new (&next(i)) link(0);
  }
  /// A node's level (storage.hpp) is that of its topmost link: the head's is 0.
  static node* make(const Storage& storage, unsigned height, const key_start& start,
                    owned_bytes&& key, owned_bytes&& value) {
    void* memory =
        storage.allocate_node(sizeof(node) + height * sizeof(link), {kMaxHeight - height});
    return ::new (memory) node(height, start, std::move(key), std::move(value));
  }
};

/// The checks that all lists share: keys in order on each level, `keys` nodes on the bottom level,
/// and `is_sound(node)` for each node. Links must carry no mark.
template <class Node, class IsSound>
bool are_levels_valid(access& inside, Node* head, std::size_t keys, IsSound is_sound) {
  std::size_t nodes = 0;
  for (unsigned level = 0; level < kMaxHeight; ++level) {
    Node* before = nullptr;
    for (Node* n = head->next_node(level); n; before = std::exchange(n, n->next_node(level))) {
      if (n->height <= level || n->value.is_null() || !is_sound(n)) return false;
      const auto key = read(n->key, inside);
      if (!key || n->start() != key_start(*key)) return false;
      if (before && read(before->key, inside) >= key) return false;
      nodes += level == 0;
    }
  }
  return nodes == keys;
}

}  // namespace isotherm::index::skip_detail
