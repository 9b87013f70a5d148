// The searches, scans and checks of tree.hpp, for sources that instantiate them.
#pragma once

#include "index/btree/tree.hpp"

namespace isotherm::index::btree_detail {

// --- going down --------------------------------------------------------------------------------

/// Begins a path at the root. False: start again.
template <class Storage, class Latch>
bool tree<Storage, Latch>::enter(path& p) noexcept {
  p = path{};
  p.parent = &anchor_;
  p.parent_version = anchor_.latch.read();
  p.at = anchor_.children[0].load_acquire();
  Storage::touch(p.at, kSearchedLines);
  p.version = p.at->latch.read();
  return !Latch::is_obsolete(p.version) && anchor_.latch.is_still(p.parent_version);
}

template <class Storage, class Latch>
template <bool kForValue>
place tree<Storage, Latch>::place_in(access& inside, leaf* n, std::string_view key, reading how) {
  return find_place(n->starts, count_of(n), start_of(key, n->skip), key, [&](unsigned i) {
    const entry* e = n->entries[i].load_acquire();
    Storage::touch(e, 1);
    const auto held = read(e->key, inside, how);
    // Fetched before the keys are compared: the two cache misses overlap.
    if constexpr (kForValue) prefetch(e->value.get(inside));
    return held;
  });
}

template <class Storage, class Latch>
place tree<Storage, Latch>::place_in(inner* n, std::string_view key) {
  return find_place(n->starts, count_of(n), start_of(key, n->skip), key,
                    [&](unsigned i) { return n->separators[i].load_acquire()->view(); });
}

/// Returns the child under which `key` is: keys equal to a separator are to the right of it.
template <class Storage, class Latch>
unsigned tree<Storage, Latch>::child_for(inner* n, std::string_view key) {
  const place p = place_in(n, key);
  return p.at + (p.is_equal ? 1 : 0);
}

template <class Storage, class Latch>
template <bool kForValue>
bool tree<Storage, Latch>::try_locate(access& inside, std::string_view key, position& out) {
  path p;
  if (!enter(p)) return false;
  while (!p.at->is_leaf) {
    if (!step_down<false>(p, child_for(inner_of(p.at), key))) return false;
  }
  out.at = leaf_of(p.at);
  out.version = p.version;
  out.level = p.level;
  out.where = place_in<kForValue>(inside, out.at, key);
  out.found = out.where.is_equal ? out.at->entries[out.where.at].load_acquire() : nullptr;
  out.at->uses.add();
  return p.at->latch.is_still(p.version);
}

template <class Storage, class Latch>
auto tree<Storage, Latch>::locate(access& inside, std::string_view key) -> position {
  position p;
  for (backoff wait; !try_locate<false>(inside, key, p);) wait();
  return p;
}

template <class Storage, class Latch>
auto tree<Storage, Latch>::find(access& inside, std::string_view key) -> entry* {
  position at;
  for (backoff wait; !try_locate<true>(inside, key, at);) wait();
  return at.found;
}

// --- in order ----------------------------------------------------------------------------------

template <class Storage, class Latch>
bool tree<Storage, Latch>::try_collect_up(access& inside, const scan_start& from, reading how,
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
  for (unsigned i = first.at + (first.is_equal && from.kind == bound::exclusive ? 1 : 0); i < count;
       ++i) {
    out.entries[out.count++] = n->entries[i].load_acquire();
  }
  out.fence = p.high;
  if (how == reading::use) n->uses.add();
  return n->latch.is_still(p.version);
}

template <class Storage, class Latch>
bool tree<Storage, Latch>::try_collect_down(access& inside, const std::optional<scan_start>& from,
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
      index = where.at + (where.is_equal && from->kind == bound::inclusive ? 1 : 0);
    }
    if (!step_down<true>(p, index)) return false;
  }
  leaf* const n = leaf_of(p.at);
  unsigned end = count_of(n);
  if (from) {
    const place where = place_in(inside, n, from->key);
    end = where.at + (where.is_equal && from->kind == bound::inclusive ? 1 : 0);
  }
  while (end-- > 0) out.entries[out.count++] = n->entries[end].load_acquire();
  out.fence = p.low;
  n->uses.add();
  return n->latch.is_still(p.version);
}

template <class Storage, class Latch>
void tree<Storage, Latch>::collect_up(access& inside, const scan_start& from, reading how,
                                      piece& out) {
  for (backoff wait; !try_collect_up(inside, from, how, out);) wait();
}

template <class Storage, class Latch>
void tree<Storage, Latch>::collect_down(access& inside, const std::optional<scan_start>& from,
                                        piece& out) {
  for (backoff wait; !try_collect_down(inside, from, out);) wait();
}

// --- checking ----------------------------------------------------------------------------------

/// Checks the order, starts, fences and count of one node; appends its children to `below`.
template <class Storage, class Latch>
bool tree<Storage, Latch>::is_valid_node(access& inside, const subtree& here, std::size_t& keys,
                                         std::vector<subtree>& below) {
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
      const auto key = read(e->key, inside);
      if (!key) return false;
      text = *key;
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
  if (Storage::kPlaced && placement::is_slow(n) && covers_fast(n)) return false;
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

template <class Storage, class Latch>
bool tree<Storage, Latch>::is_valid(std::size_t keys) {
  access inside;
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
