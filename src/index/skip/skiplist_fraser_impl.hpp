// skiplist-fraser's operations (skiplist_fraser.hpp).
#pragma once

#include "index/skip/skiplist_fraser.hpp"

namespace isotherm::index {

// --- searching ---------------------------------------------------------------------------------

/// A node of the bottom level from which the key is not far, or null when the key is after all. On
/// the way down a marked link is never followed: its node may have been off the lower levels since
/// before this scope opened (a late link above still led to it), and what it leads to be freed. An
/// unmarked one leads to a node that is in the list now; from there on any link of the bottom level
/// will do.
template <class Holding>
auto skiplist_fraser<Holding>::first_near(const scope& inside, const wanted_key& key, regard how)
    -> node* {
  node* at = head_;
  for (unsigned level = skip_detail::kMaxHeight; level-- > 1;) {
    for (link l = at->next(level).load_acquire(); !(l & kMark) && l != 0;
         l = at->next(level).load_acquire()) {
      if (node_of(l)->compare(inside, key, how) >= 0) break;
      at = node_of(l);
    }
  }
  const link first = at->next(0).load_acquire();
  if (!(first & kMark)) [[likely]]
    return node_of(first);
  place where;
  locate(inside, key, where);
  return where.after[0];
}

/// Finds the neighbours and unlinks the marked nodes on the way; false: begin again.
template <class Holding>
bool skiplist_fraser<Holding>::try_locate(const scope& inside, const wanted_key& key,
                                          place& where) {
  where.found = nullptr;
  node* before = head_;
  for (unsigned level = skip_detail::kMaxHeight; level-- > 0;) {
    link seen = before->next(level).load_acquire();
    for (;;) {
      if (seen & kMark) return false;  // the node before is on its way out
      node* at = node_of(seen);
      const link next = at ? at->next(level).load_acquire() : 0;
      if (next & kMark) {
        link expected = seen;
        if (!before->next(level).compare_exchange_acq_rel(expected, next & ~kMark)) return false;
        seen = next & ~kMark;
        continue;
      }
      const auto order = at ? at->compare(inside, key) : std::strong_ordering::greater;
      if (order < 0) {
        before = at;
        seen = next;
        continue;
      }
      where.before[level] = before;
      where.after[level] = at;
      if (level == 0 && order == 0) where.found = at;
      break;
    }
  }
  return true;
}

template <class Holding>
void skiplist_fraser<Holding>::locate(const scope& inside, const wanted_key& key, place& where) {
  for (backoff wait; !try_locate(inside, key, where);) wait();
}

template <class Holding>
std::optional<std::string_view> skiplist_fraser<Holding>::find(const scope& inside,
                                                               std::string_view key) {
  const wanted_key wanted(key);
  // A dead node of the key proves nothing: one linked late may stand before a living one.
  for (node* n = first_near(inside, wanted); n; n = next_of(n, 0)) {
    const auto order = n->compare(inside, wanted);
    if (order > 0) break;
    if (order < 0) continue;
    if (const bytes* value = n->value.get(inside)) return value->view();
  }
  return std::nullopt;
}

// --- changing ----------------------------------------------------------------------------------

/// Links `fresh` at the place; false: the place has changed.
template <class Holding>
bool skiplist_fraser<Holding>::link_at(const scope& inside, const wanted_key& key, place& where,
                                       unlinked_node& fresh) {
  for (unsigned l = 0; l < fresh->height; ++l) fresh->set_next(l, where.after[l]);
  link expected = link_to(where.after[0]);
  if (!where.before[0]->next(0).compare_exchange_acq_rel(expected, link_to(fresh.get()))) {
    return false;
  }
  node* n = fresh.release();
  count_.add(1);
  link_above(inside, key, where, n);
  if (n->progress.fetch_or_acq_rel(progress_state::kLinked) & progress_state::kDead) {
    locate(inside, key, where);  // unlinks it for good
    retire_node<Holding>(n);
  }
  return true;
}

template <class Holding>
void skiplist_fraser<Holding>::link_above(const scope& inside, const wanted_key& key, place& where,
                                          node* n) {
  for (unsigned l = 1; l < n->height; ++l) {
    for (;;) {
      // One node of a key on each level, as Fraser has it: behind this one a dead node of the same
      // key would be out of its eraser's sight, and stay linked after it is retired. By now it is
      // marked on all levels, so that locate() unlinks it.
      if (where.after[l] && where.after[l]->compare(inside, key) == 0) {
        locate(inside, key, where);
        if (where.found != n) return;
      }
      link mine = n->next(l).load_acquire();
      if (mine & kMark) return;
      if (mine != link_to(where.after[l]) &&
          !n->next(l).compare_exchange_acq_rel(mine, link_to(where.after[l]))) {
        return;  // only the mark changes it beside us
      }
      link expected = link_to(where.after[l]);
      if (where.before[l]->next(l).compare_exchange_acq_rel(expected, link_to(n))) break;
      locate(inside, key, where);
      if (where.found != n) return;  // erased meanwhile
    }
  }
}

/// Erases: whoever empties the value has done it. False: the value was another one.
template <class Holding>
bool skiplist_fraser<Holding>::kill(const scope& inside, const wanted_key& key, node* n,
                                    const bytes* current) {
  typename Holding::fresh nothing;
  if (!n->value.compare_replace(inside, current, nothing)) return false;
  count_.add(-1);
  mark(n);
  const auto before = n->progress.fetch_or_acq_rel(progress_state::kDead);
  place where;
  locate(inside, key, where);
  if (before & progress_state::kLinked) retire_node<Holding>(n);
  return true;
}

template <class Holding>
outcome skiplist_fraser<Holding>::insert(std::string_view key, std::string_view value) {
  const scope inside;
  const wanted_key wanted(key);
  unlinked_node fresh;
  place where;
  for (;;) {
    locate(inside, wanted, where);
    if (where.found) {
      if (!where.found->value.is_null()) return outcome::unchanged;
      mark(where.found);  // helps its eraser
      continue;
    }
    if (!fresh && !(fresh = node::make(key, value))) return outcome::no_memory;
    if (link_at(inside, wanted, where, fresh)) return outcome::done;
  }
}

template <class Holding>
outcome skiplist_fraser<Holding>::upsert(std::string_view key, std::string_view value) {
  const scope inside;
  const wanted_key wanted(key);
  unlinked_node fresh;
  typename Holding::fresh successor;
  place where;
  for (;;) {
    locate(inside, wanted, where);
    if (!where.found) {
      if (!fresh && !(fresh = node::make(key, value))) return outcome::no_memory;
      if (link_at(inside, wanted, where, fresh)) return outcome::done;
      continue;
    }
    auto& held = where.found->value;
    if (!successor && !(successor = Holding::make_successor(held, value))) {
      return outcome::no_memory;
    }
    const bytes* current = held.get(inside);
    while (current && !held.compare_replace(inside, current, successor)) current = held.get(inside);
    if (current) return outcome::done;
    mark(where.found);
  }
}

template <class Holding>
bool skiplist_fraser<Holding>::erase(std::string_view key) {
  const scope inside;
  const wanted_key wanted(key);
  place where;
  locate(inside, wanted, where);
  if (!where.found) return false;
  const bytes* current = where.found->value.get(inside);
  while (current && !kill(inside, wanted, where.found, current)) {
    current = where.found->value.get(inside);
  }
  return current != nullptr;
}

template <class Holding>
outcome skiplist_fraser<Holding>::update(std::string_view key, const updater& decide) {
  const scope inside;
  const wanted_key wanted(key);
  place where;
  for (;;) {
    locate(inside, wanted, where);
    node* const n = where.found;
    const bytes* current = n ? n->value.get(inside) : nullptr;
    if (n && !current) {
      mark(n);
      continue;
    }
    const decision chosen = n ? decide(current->view()) : decide(std::nullopt);
    if (chosen.what == action::keep || (!n && chosen.what == action::erase)) {
      return outcome::unchanged;
    }
    if (!n) {
      unlinked_node fresh = node::make(key, chosen.value);
      if (!fresh) return outcome::no_memory;
      if (link_at(inside, wanted, where, fresh)) return outcome::done;
    } else if (chosen.what == action::erase) {
      if (kill(inside, wanted, n, current)) return outcome::done;
    } else {
      auto successor = Holding::make_successor(n->value, chosen.value);
      if (!successor) return outcome::no_memory;
      if (n->value.compare_replace(inside, current, successor)) return outcome::done;
    }
  }
}

template <class Holding>
void skiplist_fraser<Holding>::clear() {
  const scope inside;
  for (node* n = next_of(head_, 0); n; n = next_of(n, 0)) erase(n->key.get(inside)->view());
}

// --- in order ----------------------------------------------------------------------------------

/// Follows the bottom level. The marked link of an unlinked node still leads to every key beyond it
/// that has been present since.
template <class Holding>
void skiplist_fraser<Holding>::iterate(const scope& inside, std::string_view from, bool beyond,
                                       regard how, const visitor& visit) {
  const wanted_key wanted(from);
  bool is_past_bound = false;
  for (node* n = first_near(inside, wanted, how); n; n = next_of(n, 0)) {
    if (!is_past_bound) {
      const auto order = n->compare(inside, wanted, how);
      if (order < 0 || (beyond && order == 0)) continue;
      is_past_bound = true;
    }
    const bytes* value = look(n->value, inside, how);
    if (value && !visit(look(n->key, inside, how)->view(), value->view())) return;
  }
}

/// Where locate() passes, nodes are not marked on their levels, hence linked on all lower ones.
template <class Holding>
void skiplist_fraser<Holding>::scan_back(const scope& inside, std::optional<std::string_view> from,
                                         const visitor& visit) {
  skip_detail::scan_back(
      inside, head_, from, visit,
      [&](const wanted_key& bound, bool or_equal, std::vector<node*>& out) {
        place where;
        locate(inside, bound, where);
        node* const start = where.before[skip_detail::kBackLevel];
        skip_detail::gather(inside, head_, start, bound, or_equal, out,
                            [](node* n) { return next_of(n, 0); });
        return start;
      },
      [](node*) { return true; });
}

template <class Holding>
bool skiplist_fraser<Holding>::is_valid() {
  const scope inside;
  // A mark would be part of the address that next_node() returns: it is looked for first.
  for (unsigned level = 0; level < skip_detail::kMaxHeight; ++level) {
    for (node* n = head_; n; n = next_of(n, level)) {
      if (n->next(level).load_acquire() & kMark) return false;
    }
  }
  return skip_detail::are_levels_valid(inside, head_, size(), [](node*) { return true; });
}

}  // namespace isotherm::index
