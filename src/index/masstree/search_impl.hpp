// masstree: operations that only read (masstree.hpp).
#pragma once

#include "index/masstree/masstree.hpp"

namespace isotherm::index {

/// False: a layer on the way went away.
template <class Holding>
bool masstree<Holding>::try_locate(std::string_view key, position& at) noexcept {
  base::atomic<link>* where = &top_;
  link top = top_.load_acquire();
  at.depth = 0;
  at.upper = nullptr;
  for (;;) {
    at.what = wanted(key, at.depth);
    at.at = masstree_detail::find_border(*where, top, at.what.slice, at.seen);
    if (!at.at) return false;
    at.order = at.at->order();
    at.slot = at.at->find(at.order, at.what);
    at.target = at.slot == masstree_detail::kNoSlot ? 0 : at.at->link_at(at.slot).load_acquire();
    if (at.seen.differs(at.at->state.now())) [[unlikely]]
      continue;
    if (at.target == 0 || masstree_detail::is_leaf(at.target)) return true;
    where = &at.at->link_at(at.slot);
    top = at.target;
    at.upper = at.at;
    at.depth += 8;
  }
}

template <class Holding>
auto masstree<Holding>::locate(const scope&, std::string_view key) noexcept -> position {
  position at;
  for (backoff wait; !try_locate(key, at);) wait();
  return at;
}

/// Whether the leaf that a search found is the key's own.
template <class Holding>
bool masstree<Holding>::has_key(const scope& inside, const position& at, std::string_view key) {
  if (at.what.rank != masstree_detail::kGoesOn) return true;
  const std::string_view held = leaf_of(at.target)->key.get(inside)->view();
  return held.size() == key.size() && held.substr(at.depth + 8) == key.substr(at.depth + 8);
}

template <class Holding>
std::optional<std::string_view> masstree<Holding>::find(const scope& inside, std::string_view key) {
  const position at = locate(inside, key);
  if (at.target == 0) return std::nullopt;
  const bytes* value = leaf_of(at.target)->value.get(inside);
  prefetch(value);  // asked for beside the key: two misses overlap
  if (!has_key(inside, at, key)) return std::nullopt;
  return value->view();
}

/// Visits the pairs from `from` (none: from the end) in one direction; `beyond`: without `from`.
template <class Holding>
void masstree<Holding>::iterate(const scope& inside, direction where_to,
                                std::optional<std::string_view> from, bool beyond, regard how,
                                const visitor& visit) {
  const auto is_before_bound = [&](std::string_view key) {
    if (key == *from) return beyond;
    return (key < *from) == (where_to == direction::up);
  };
  masstree_detail::cursor at(top_, where_to);
  at.seek(from);
  bool is_past_bound = !from;  // all that follow come after `from`
  for (;;) {
    const std::optional<link> target = at.next();
    if (!target) {
      // `from` may be a key already visited: its object lives as long as the caller's scope.
      at.seek(from);
      is_past_bound = !from;
      continue;
    }
    if (*target == 0) return;
    entry* const found = leaf_of(*target);
    const std::string_view key = look(found->key, inside, how)->view();
    if (guides::is_unreadable(key)) continue;  // no bound to go on from
    if (!is_past_bound && is_before_bound(key)) continue;
    is_past_bound = true;
    if (!visit(key, look(found->value, inside, how)->view())) return;
    from = key;
    beyond = true;
  }
}

template <class Holding>
std::uint64_t masstree<Holding>::walk(const scope& inside, std::uint64_t cursor,
                                      const visitor& visit) {
  return walk_in_order(cursors_, cursor, visit,
                       [&](std::string_view from, bool beyond, const visitor& each) {
                         iterate(inside, direction::up, from, beyond, regard::glance, each);
                       });
}

}  // namespace isotherm::index
