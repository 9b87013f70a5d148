// The masstree's operations. For sources that instantiate it.
#pragma once

#include "index/masstree/check.hpp"
#include "index/masstree/masstree.hpp"

namespace isotherm::index {

/// False: a layer on the way was removed.
template <class Storage>
bool masstree<Storage>::try_locate(std::string_view key, position& at) noexcept {
  base::atomic<link>* where = &top_;
  link top = top_.load_acquire();
  at.depth = 0;
  at.upper = nullptr;
  unsigned above = 0;  // nodes in the layers above
  for (;;) {
    at.sought = wanted(key, at.depth);
    at.level = above;
    at.at = masstree_detail::find_border(*where, top, at.sought.slice, at.seen, at.level,
                                         [](const auto* n) { touch(n); });
    if (!at.at) return false;
    at.order = at.at->order();
    at.slot = at.at->find(at.order, at.sought);
    at.target = at.slot == masstree_detail::kNoSlot ? 0 : at.at->link_at(at.slot).load_acquire();
    if (at.seen.differs(at.at->state.now())) [[unlikely]]
      continue;
    if (at.target == 0 || masstree_detail::is_leaf(at.target)) {
      Storage::use_count::add_to(at.at->uses);
      if (at.target != 0) Storage::touch(leaf_of(at.target), 1);
      return true;
    }
    where = &at.at->link_at(at.slot);
    top = at.target;
    at.upper = at.at;
    at.depth += 8;
    above = at.level + 1;
  }
}

template <class Storage>
auto masstree<Storage>::locate(access&, std::string_view key) noexcept -> position {
  position at;
  for (backoff wait; !try_locate(key, at);) wait();
  return at;
}

/// Whether the leaf that a search found has this key.
template <class Storage>
bool masstree<Storage>::has_key(access& inside, const position& at, std::string_view key) {
  if (at.sought.rank != masstree_detail::kGoesOn) return true;
  const auto held = read(leaf_of(at.target)->key, inside);
  return held && held->size() == key.size() &&
         held->substr(at.depth + 8) == key.substr(at.depth + 8);
}

template <class Storage>
std::optional<std::string_view> masstree<Storage>::find(access& inside, std::string_view key) {
  const position at = locate(inside, key);
  if (at.target == 0) return std::nullopt;
  const bytes* value = leaf_of(at.target)->value.get(inside);
  prefetch(value);  // while the key is fetched: the two cache misses overlap
  if (!has_key(inside, at, key) || !value) return std::nullopt;
  return value->view();
}

/// Visits the pairs from `from` on (without it: all) in one direction.
template <class Storage>
template <class Visit>
void masstree<Storage>::iterate(access& inside, direction where_to, std::optional<scan_start> from,
                                reading how, const Visit& visit) {
  const auto is_before_bound = [&](std::string_view key) {
    if (key == from->key) return from->kind == bound::exclusive;
    return (key < from->key) == (where_to == direction::up);
  };
  masstree_detail::cursor at(top_, where_to, on_border(how));
  const auto seek = [&] { at.seek(from ? std::optional(from->key) : std::nullopt); };
  seek();
  bool is_past_bound = !from;  // all that follow come after `from`
  for (;;) {
    const std::optional<link> target = at.next();
    if (!target) {
      // The key `from` may have been visited already: its object lives as long as the caller's
      // scope.
      seek();
      is_past_bound = !from;
      continue;
    }
    if (*target == 0) return;
    entry* const found = leaf_of(*target);
    Storage::touch(found, 1);
    const auto key = read(found->key, inside, how);
    if (!key) {  // cannot be continued from
      if (!visit(key, std::nullopt)) return;
      continue;
    }
    if (!is_past_bound && is_before_bound(*key)) continue;
    is_past_bound = true;
    if (!visit(key, read_value(found->value, inside, how))) return;
    from = scan_start{*key, bound::exclusive};
  }
}

template <class Storage>
masstree<Storage>::masstree(std::size_t, const Storage& storage)
    : writes(storage),
      top_(masstree_detail::link_to(
          memory().make_border(masstree_detail::version::kRoot, masstree_detail::kSlots, {}))) {}

/// Locks the node where a search ended, if what the search found still holds.
template <class Storage>
bool masstree<Storage>::try_lock(const position& at) noexcept {
  if (!at.at->state.lock_if(at.seen)) return false;
  // Inserts and removals do not change the version, nor does a leaf's replacement by a layer.
  if (at.at->order() == at.order &&
      (at.target == 0 || at.at->link_at(at.slot).load_relaxed() == at.target)) {
    return true;
  }
  at.at->state.unlock();
  return false;
}

// --- adding ------------------------------------------------------------------------------------

/// Links the leaf where the search for its key ended; false: something has changed, search again.
template <class Storage>
bool masstree<Storage>::attach(access& inside, const position& at, std::string_view key,
                               entry* leaf) {
  const link created = link_to(leaf);
  if (at.target == 0 && at.at->capacity < masstree_detail::kSlots && at.at->is_full(at.order)) {
    masstree_detail::grow_border(at.upper, wanted(key, at.depth - 8), at.at, memory(), at.level);
    return false;
  }
  const auto other =
      at.target == 0 ? std::optional(std::string_view()) : read(leaf_of(at.target)->key, inside);
  if (!other || !try_lock(at)) return false;
  if (at.target == 0) {
    masstree_detail::insert_entry(at.at, at.sought, created, memory(), at.level);
    return true;
  }
  at.at->link_at(at.slot).store_release(make_layers(at, key, created, *other));
  at.at->state.unlock();
  return true;
}

/// Makes the layers for `key` and for `other`, whose leaf the search found at `at`: one for each
/// further slice that the keys share; the last one has both leaves.
template <class Storage>
auto masstree<Storage>::make_layers(const position& at, std::string_view key, link created,
                                    std::string_view other) -> link {
  border* first = nullptr;
  base::atomic<link>* above = nullptr;
  std::size_t depth = at.depth + 8;
  placement::node_place place{
      .level = at.level + 1, .parent = at.at, .covers = {leaf_of(at.target), leaf_of(created)}};
  for (;; depth += 8) {
    border* const layer =
        memory().make_border(masstree_detail::version::kRoot, masstree_detail::kFewSlots, place);
    ++place.level;
    place.parent = layer;
    if (above) above->store_release(masstree_detail::link_to(layer));
    if (!first) first = layer;
    const wanted mine(key, depth), theirs(other, depth);
    if (mine != theirs) {
      layer->insert(theirs, at.target);
      layer->insert(mine, created);
      return masstree_detail::link_to(first);
    }
    layer->insert(mine, 0);
    above = &layer->link_at(0);
  }
}

// --- moving ------------------------------------------------------------------------------------

template <class Storage>
auto masstree<Storage>::copy_leaf(link leaf, placement::tier to) -> link {
  return link_to(::new (placement::allocate_node(to, sizeof(entry)))
                     entry(isotherm::relocation{}, *leaf_of(leaf)));
}

template <class Storage>
void masstree<Storage>::settle_leaf(link from, link made) {
  leaf_of(made)->finish_relocation();
  placement::retire_node(leaf_of(from));  // its guides own nothing any more
}

// --- removing ----------------------------------------------------------------------------------

/// Unlinks the leaf at a position whose node this thread has locked, and unlocks the node.
template <class Storage>
void masstree<Storage>::detach(access&, const position& at, std::string_view key) {
  at.at->remove(at.at->place_of(at.order, at.sought));
  const bool is_empty = at.order.count() == 1;
  at.at->state.unlock();
  retire_node<Storage>(leaf_of(at.target));
  if (is_empty) tidy(key);
}

/// Removes what is empty on the path of an erased key.
template <class Storage>
void masstree<Storage>::tidy(std::string_view key) {
  std::vector<step> path;
  for (backoff wait; !try_path(key, path) || !try_tidy(path);) wait();
}

/// Fills `path` with the border nodes that the key's slices lead to. False: something has changed.
template <class Storage>
bool masstree<Storage>::try_path(std::string_view key, std::vector<step>& path) noexcept {
  path.clear();
  base::atomic<link>* where = &top_;
  link top = top_.load_acquire();
  for (std::size_t depth = 0;; depth += 8) {
    const wanted sought(key, depth);
    masstree_detail::version seen;
    border* const at = masstree_detail::find_border(*where, top, sought.slice, seen);
    if (!at) return false;
    const unsigned slot = at->find(at->order(), sought);
    top = slot == masstree_detail::kNoSlot ? 0 : at->link_at(slot).load_acquire();
    if (seen.differs(at->state.now())) return false;
    path.push_back({at, sought});
    if (top == 0 || masstree_detail::is_leaf(top)) return true;
    where = &at->link_at(slot);
  }
}

/// From the last layer upwards: removes the empty node, then the layer if it has become empty, and
/// with that an entry of the layer above. False: something has changed.
template <class Storage>
bool masstree<Storage>::try_tidy(std::vector<step>& path) {
  using masstree_detail::removal;
  while (path.back().at->order().count() == 0) {
    if (masstree_detail::remove_border(path.back().at, memory()) == removal::changed) return false;
    path.pop_back();
    if (path.empty()) return true;
    switch (masstree_detail::remove_layer(path.back().at, path.back().sought, memory())) {
      case removal::changed:
        return false;
      case removal::useless:
        return true;
      case removal::done:
        break;
    }
  }
  return true;
}

/// Removes leaves of the border node to which `path` leads (cursor::path()): from its entry on, up
/// to the next link to a layer. Returns the path of the last one removed, which does not come
/// before `path`. Reads no key.
template <class Storage>
std::string masstree<Storage>::clear_border(access& inside, std::string_view path) {
  position at = locate(inside, path);
  while (at.target != 0 && !try_lock(at)) at = locate(inside, path);
  if (at.target == 0) return std::string(path);
  masstree_detail::permutation order = at.order;
  const unsigned place = at.at->place_of(order, at.sought);
  entry* gone[masstree_detail::kSlots];
  unsigned removed = 0;
  wanted last = at.sought;
  while (place < order.count()) {
    const link target = at.at->link_at(order[place]).load_relaxed();
    if (!masstree_detail::is_leaf(target)) break;
    last = at.at->entry(order[place]);
    order = order.removed(place, at.at->capacity);
    gone[removed++] = leaf_of(target);
  }
  at.at->set_order(order);
  at.at->state.unlock();
  // Only now: what is retired must be out of reach.
  for (unsigned i = 0; i < removed; ++i) retire_node<Storage>(gone[i]);
  count_.add(-std::int64_t{removed});
  if (order.count() == 0) tidy(path);
  std::string end(path.substr(0, at.depth));
  masstree_detail::append_entry(end, last);
  return end;
}

/// The path of the first leaf from that of `from` on; none: there is no other.
template <class Storage>
std::optional<std::string> masstree<Storage>::first_path(const scan_start& from) {
  masstree_detail::cursor at(top_, direction::up);
  at.seek(from.key);
  for (;;) {
    const std::optional<link> target = at.next();
    if (target && *target == 0) return std::nullopt;
    std::optional<std::string> path;
    if (target) path = at.path();
    if (!path) {
      at.seek(from.key);
      continue;
    }
    if (*path > from.key || (*path == from.key && from.kind == bound::inclusive)) return path;
  }
}

/// Clears one border node after another, each in its own scope, so that memory is freed on the way.
template <class Storage>
void masstree<Storage>::clear() {
  std::string from;
  for (bound kind = bound::inclusive;; kind = bound::exclusive) {
    access inside;
    const std::optional<std::string> first = first_path({from, kind});
    if (!first) return;
    from = clear_border(inside, *first);
  }
}

template <class Storage>
masstree<Storage>::~masstree() {
  std::vector<masstree_detail::node*> rest;
  const auto add_layer = [&rest](base::atomic<link>& where) {
    masstree_detail::version seen;
    rest.push_back(
        masstree_detail::climb(where, masstree_detail::node_of(where.load_relaxed()), seen));
  };
  add_layer(top_);
  while (!rest.empty()) {
    masstree_detail::node* const next = rest.back();
    rest.pop_back();
    if (next->is_border()) {
      auto* const at = static_cast<border*>(next);
      const masstree_detail::permutation order = at->order();
      for (unsigned place = 0; place < order.count(); ++place) {
        auto& where = at->link_at(order[place]);
        const link target = where.load_relaxed();
        if (masstree_detail::is_leaf(target)) {
          destroy_node<Storage>(leaf_of(target));
        } else {
          add_layer(where);
        }
      }
    } else {
      auto* const inner = static_cast<masstree_detail::interior*>(next);
      for (unsigned i = 0; i <= inner->count.load_relaxed(); ++i) {
        rest.push_back(inner->children[i].load_relaxed());
      }
    }
    Storage::deallocate_node(next);
  }
}

/// Checks every layer's own invariants, that each leaf's key is what its path says, and that no
/// layer but the first is empty.
template <class Storage>
bool masstree<Storage>::is_valid() {
  struct layer {
    base::atomic<link>* where;
    std::string path;
  };
  access inside;
  std::size_t leaves = 0;
  std::vector<layer> rest;
  rest.push_back({&top_, std::string()});
  while (!rest.empty()) {
    const layer here = std::move(rest.back());
    rest.pop_back();
    masstree_detail::version seen;
    std::vector<border*> borders;
    auto* const top = masstree_detail::node_of(here.where->load_acquire());
    const std::size_t leaves_before = leaves, layers_before = rest.size();
    if (!masstree_detail::is_valid_layer(masstree_detail::climb(*here.where, top, seen), borders)) {
      return false;
    }
    for (border* const at : borders) {
      const masstree_detail::permutation order = at->order();
      for (unsigned place = 0; place < order.count(); ++place) {
        const wanted sought = at->entry(order[place]);
        const link target = at->link_at(order[place]).load_acquire();
        if (placement::is_slow(at) && masstree_detail::leads_to_fast(target)) return false;
        if (!masstree_detail::is_leaf(target)) {
          const std::uint64_t slice = std::byteswap(sought.slice);
          std::string path = here.path;
          path.append(reinterpret_cast<const char*>(&slice), sizeof slice);
          rest.push_back({&at->link_at(order[place]), std::move(path)});
          continue;
        }
        ++leaves;
        const auto key = read(leaf_of(target)->key, inside);
        if (!key || !key->starts_with(here.path)) return false;
        if (wanted(*key, here.path.size()) != sought) return false;
        if (leaf_of(target)->value.is_null()) return false;
      }
    }
    if (here.where != &top_ && leaves == leaves_before && rest.size() == layers_before) {
      return false;
    }
  }
  return leaves == this->size();
}

}  // namespace isotherm::index
