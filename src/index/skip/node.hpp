// What the skip lists share (Pugh, "Skip lists: a probabilistic alternative to balanced trees",
// CACM 1990): nodes with a tower of links, levels drawn with p = 1/4, and the order of keys.
//
// A node keeps the first 8 bytes of its key as a number: most comparisons on the way down are then
// made without dereferencing the key, which stays cold and costs no cache miss.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>

#include "base/random.hpp"
#include "index/common.hpp"
#include "index/holding.hpp"
#include "index/key_slice.hpp"

namespace isotherm::index::skip_detail {

inline constexpr unsigned kMaxHeight = 14;  // 4^14 keys before searches lengthen

/// A key that is looked for.
struct wanted_key {
  explicit wanted_key(std::string_view k) noexcept : text(k), start(key_slice(k)) {}
  /// A place behind all keys.
  static wanted_key end() noexcept {
    wanted_key k{std::string_view()};
    k.start = ~std::uint64_t{0};
    k.is_end = true;
    return k;
  }
  std::string_view text;
  std::uint64_t start;
  bool is_end = false;
};

/// 1 with probability 3/4, 2 with 3/16, ...
inline unsigned random_height() noexcept {
  thread_local base::random random(reinterpret_cast<std::uintptr_t>(&random));
  const auto pairs =
      static_cast<unsigned>(std::countr_zero(random() | (std::uint64_t{1} << 63))) / 2;
  return std::min(pairs + 1, kMaxHeight);
}

/// A node, followed in memory by `height` links. `State` is what the algorithm adds.
template <class Holding, class State>
struct node : State {
  using holder = typename Holding::holder;
  using link = base::atomic<std::uintptr_t>;

  /// The list's head, before all keys.
  static node* make_head() { return make(kMaxHeight, 0, holder(), holder()); }
  /// Null when memory is exhausted.
  static node* make(std::string_view key, std::string_view value) {
    auto held_key = Holding::make(key);
    auto held_value = Holding::make(value);
    if (!held_key || !held_value) return nullptr;
    return make(random_height(), key_slice(key), holder(std::move(held_key)),
                holder(std::move(held_value)));
  }

  link& next(unsigned level) noexcept { return reinterpret_cast<link*>(this + 1)[level]; }
  node* next_node(unsigned level) noexcept {
    // Acquire: pairs with the release that linked the node, publishing its contents.
    return reinterpret_cast<node*>(next(level).load_acquire());
  }
  void set_next(unsigned level, node* n) noexcept {
    next(level).store_release(reinterpret_cast<std::uintptr_t>(n));
  }

  /// Whether this node's key comes before, is, or comes after `k`. Not for the head.
  std::strong_ordering compare(const scope& inside, const wanted_key& k,
                               regard how = regard::use) const {
    if (start != k.start) return start <=> k.start;
    if (k.is_end) return std::strong_ordering::less;
    return look(key, inside, how)->view() <=> k.text;
  }

  const unsigned height;
  const std::uint64_t start;
  holder key, value;

 private:
  node(unsigned h, std::uint64_t s, holder&& k, holder&& v) noexcept
      : height(h), start(s), key(std::move(k)), value(std::move(v)) {
    for (unsigned i = 0; i < h; ++i) ::new (&next(i)) link(0);
  }
  static node* make(unsigned height, std::uint64_t start, holder&& key, holder&& value) {
    void* memory = Holding::allocate_node(sizeof(node) + height * sizeof(link));
    return ::new (memory) node(height, start, std::move(key), std::move(value));
  }
};

}  // namespace isotherm::index::skip_detail
