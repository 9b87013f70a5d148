// The B+tree: operations that only read (tree.hpp).
#pragma once

#include "index/btree/tree.hpp"

namespace isotherm::index::btree_detail {

// --- going down --------------------------------------------------------------------------------

/// Stands at the root. False: begin again.
template <class Holding, class Latch>
bool tree<Holding, Latch>::enter(path& p) noexcept {
  p = path{};
  p.parent = &anchor_;
  p.parent_version = anchor_.latch.read();
  p.at = anchor_.children[0].load_acquire();
  p.version = p.at->latch.read();
  return !Latch::is_obsolete(p.version) && anchor_.latch.is_still(p.parent_version);
}

/// From an inner node to its child `index`. False: begin again.
template <class Holding, class Latch>
template <bool kWithFences>
bool tree<Holding, Latch>::step_down(path& p, unsigned index) noexcept {
  inner* const from = inner_of(p.at);
  const std::uint64_t from_version = p.version;
  if constexpr (kWithFences) {
    p.parent_low = p.low;
    p.parent_high = p.high;
    if (index > 0) p.low = from->separators[index - 1].load_acquire();
    if (index < count_of(from)) p.high = from->separators[index].load_acquire();
  }
  node* const child = from->children[index].load_acquire();
  prefetch_starts(child);
  p.parent = from;
  p.parent_version = from_version;
  p.index = index;
  p.at = child;
  p.version = child->latch.read();
  // Coupling: the child's version was read while this node, unchanged, still led to it.
  return !Latch::is_obsolete(p.version) && from->latch.is_still(from_version);
}

template <class Holding, class Latch>
template <bool kForValue>
place tree<Holding, Latch>::place_in(const scope& inside, leaf* n, std::string_view key,
                                     regard how) {
  return find_place(n->starts, count_of(n), start_of(key, n->skip), key, [&](unsigned i) {
    const entry* e = n->entries[i].load_acquire();
    const bytes* held = look(e->key, inside, how);
    // Asked for before the keys are compared: two misses overlap.
    if constexpr (kForValue) prefetch(e->value.get(inside));
    return held->view();
  });
}

template <class Holding, class Latch>
place tree<Holding, Latch>::place_in(inner* n, std::string_view key) {
  return find_place(n->starts, count_of(n), start_of(key, n->skip), key,
                    [&](unsigned i) { return n->separators[i].load_acquire()->view(); });
}

/// The child under which `key` is: a separator belongs to the right of itself.
template <class Holding, class Latch>
unsigned tree<Holding, Latch>::child_for(inner* n, std::string_view key) {
  const place p = place_in(n, key);
  return p.at + (p.is_equal ? 1 : 0);
}

template <class Holding, class Latch>
template <bool kForValue>
bool tree<Holding, Latch>::try_locate(const scope& inside, std::string_view key, position& out) {
  path p;
  if (!enter(p)) return false;
  while (!p.at->is_leaf) {
    if (!step_down<false>(p, child_for(inner_of(p.at), key))) return false;
  }
  out.at = leaf_of(p.at);
  out.version = p.version;
  out.where = place_in<kForValue>(inside, out.at, key);
  out.found = out.where.is_equal ? out.at->entries[out.where.at].load_acquire() : nullptr;
  return p.at->latch.is_still(p.version);
}

template <class Holding, class Latch>
auto tree<Holding, Latch>::locate(const scope& inside, std::string_view key) -> position {
  position p;
  for (backoff wait; !try_locate<false>(inside, key, p);) wait();
  return p;
}

template <class Holding, class Latch>
auto tree<Holding, Latch>::find(const scope& inside, std::string_view key) -> entry* {
  position at;
  for (backoff wait; !try_locate<true>(inside, key, at);) wait();
  return at.found;
}

// --- in order ----------------------------------------------------------------------------------

template <class Holding, class Latch>
bool tree<Holding, Latch>::try_collect_up(const scope& inside, const bound& from, regard how,
                                          piece& out) {
  out.count = 0;
  path p;
  if (!enter(p)) return false;
  while (!p.at->is_leaf) {
    if (!step_down<true>(p, child_for(inner_of(p.at), from.key))) return false;
  }
  leaf* const n = leaf_of(p.at);
  const place first = place_in(inside, n, from.key, how);
  const unsigned count = count_of(n);
  for (unsigned i = first.at + (first.is_equal && !from.or_equal ? 1 : 0); i < count; ++i) {
    out.entries[out.count++] = n->entries[i].load_acquire();
  }
  out.fence = p.high;
  return n->latch.is_still(p.version);
}

template <class Holding, class Latch>
bool tree<Holding, Latch>::try_collect_down(const scope& inside, const std::optional<bound>& from,
                                            piece& out) {
  out.count = 0;
  path p;
  if (!enter(p)) return false;
  while (!p.at->is_leaf) {
    inner* const n = inner_of(p.at);
    unsigned index = count_of(n);
    if (from) {
      // Keys less than a separator are to the left of it.
      const place where = place_in(n, from->key);
      index = where.at + (where.is_equal && from->or_equal ? 1 : 0);
    }
    if (!step_down<true>(p, index)) return false;
  }
  leaf* const n = leaf_of(p.at);
  unsigned end = count_of(n);
  if (from) {
    const place where = place_in(inside, n, from->key);
    end = where.at + (where.is_equal && from->or_equal ? 1 : 0);
  }
  while (end-- > 0) out.entries[out.count++] = n->entries[end].load_acquire();
  out.fence = p.low;
  return n->latch.is_still(p.version);
}

template <class Holding, class Latch>
void tree<Holding, Latch>::collect_up(const scope& inside, const bound& from, regard how,
                                      piece& out) {
  for (backoff wait; !try_collect_up(inside, from, how, out);) wait();
}

template <class Holding, class Latch>
void tree<Holding, Latch>::collect_down(const scope& inside, const std::optional<bound>& from,
                                        piece& out) {
  for (backoff wait; !try_collect_down(inside, from, out);) wait();
}

// --- checking ----------------------------------------------------------------------------------

/// Order, starts, fences and fill of one node; its children go to `below`.
template <class Holding, class Latch>
bool tree<Holding, Latch>::is_valid_node(const scope& inside, const subtree& here,
                                         std::size_t& keys, std::vector<subtree>& below) {
  node* const n = here.at;
  if (Latch::is_obsolete(n->latch.read())) return false;
  const unsigned count = count_of(n);
  if (count > capacity_of(n) || n->skip > skip_between(here.low, here.high)) return false;
  std::optional<std::string_view> before;
  if (here.low) before = here.low->view();
  for (unsigned i = 0; i < count; ++i) {
    std::string_view text;
    std::uint64_t start = 0;
    if (n->is_leaf) {
      entry* const e = leaf_of(n)->entries[i].load_acquire();
      if (e->value.is_null()) return false;
      text = e->key.get(inside)->view();
      start = leaf_of(n)->starts[i].load_acquire();
    } else {
      text = inner_of(n)->separators[i].load_acquire()->view();
      start = inner_of(n)->starts[i].load_acquire();
    }
    // A leaf's first key may be its lower fence.
    const bool may_equal = n->is_leaf && i == 0;
    if (before && (may_equal ? text < *before : text <= *before)) return false;
    if (here.high && text >= here.high->view()) return false;
    if (start != start_of(text, n->skip)) return false;
    before = text;
  }
  if (n->is_leaf) {
    keys += count;
    return true;
  }
  for (unsigned i = 0; i <= count; ++i) {
    const separator* low = i > 0 ? inner_of(n)->separators[i - 1].load_acquire() : here.low;
    const separator* high = i < count ? inner_of(n)->separators[i].load_acquire() : here.high;
    below.push_back({inner_of(n)->children[i].load_acquire(), low, high, here.depth + 1});
  }
  return true;
}

template <class Holding, class Latch>
bool tree<Holding, Latch>::is_valid(std::size_t keys) {
  const scope inside;
  std::size_t counted = 0;
  std::optional<unsigned> leaf_depth;
  std::vector<subtree> rest;
  rest.push_back({anchor_.children[0].load_acquire(), nullptr, nullptr, 0});
  while (!rest.empty()) {
    const subtree here = rest.back();
    rest.pop_back();
    if (here.at->is_leaf && here.depth != leaf_depth.value_or(here.depth)) return false;
    if (here.at->is_leaf) leaf_depth = here.depth;
    if (!is_valid_node(inside, here, counted, rest)) return false;
  }
  return counted == keys;
}

}  // namespace isotherm::index::btree_detail
