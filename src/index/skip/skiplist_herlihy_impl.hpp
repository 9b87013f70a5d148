// skiplist-herlihy's operations (skiplist_herlihy.hpp).
#pragma once

#include <mutex>

#include "index/skip/skiplist_herlihy.hpp"

namespace isotherm::index {

// --- searching ---------------------------------------------------------------------------------

template <class Holding>
auto skiplist_herlihy<Holding>::search(const scope& inside, const wanted_key& key) -> node* {
  node* at = head_;
  for (unsigned level = skip_detail::kMaxHeight; level-- > 0;) {
    for (node* next = at->next_node(level); next; next = at->next_node(level)) {
      const auto order = next->compare(inside, key);
      if (order == 0) return next;
      if (order > 0) break;
      at = next;
    }
  }
  return nullptr;
}

template <class Holding>
void skiplist_herlihy<Holding>::locate(const scope& inside, const wanted_key& key, place& where,
                                       regard how) {
  where.found = nullptr;
  node* at = head_;
  for (unsigned level = skip_detail::kMaxHeight; level-- > 0;) {
    node* next = at->next_node(level);
    std::strong_ordering order = std::strong_ordering::greater;
    while (next && (order = next->compare(inside, key, how)) < 0) {
      next = (at = next)->next_node(level);
    }
    if (next && order == 0 && !where.found) where.found = next;
    where.before[level] = at;
    where.after[level] = next;
  }
}

/// The node with the key, once it is neither on its way in nor on its way out; null when there is
/// none, and then `where` tells where it belongs.
template <class Holding>
auto skiplist_herlihy<Holding>::find_settled(const scope& inside, const wanted_key& key,
                                             place& where) -> node* {
  for (backoff wait;; wait()) {
    locate(inside, key, where);
    if (!where.found || is_present(where.found)) return where.found;
  }
}

// --- changing ----------------------------------------------------------------------------------

/// Links `fresh` at the place; false: the place has changed.
template <class Holding>
bool skiplist_herlihy<Holding>::link(const place& where, unlinked_node& fresh) {
  const unsigned height = fresh->height;
  const locked_place locks(where, height);
  for (unsigned l = 0; l < height; ++l) {
    if (where.before[l]->is_marked() || (where.after[l] && where.after[l]->is_marked()) ||
        where.before[l]->next_node(l) != where.after[l]) {
      return false;
    }
  }
  node* n = fresh.release();
  for (unsigned l = 0; l < height; ++l) n->set_next(l, where.after[l]);
  for (unsigned l = 0; l < height; ++l) where.before[l]->set_next(l, n);
  n->set_linked();
  count_.add(1);
  return true;
}

/// Unlinks and retires a node that this thread has locked and marked, and unlocks it.
template <class Holding>
void skiplist_herlihy<Holding>::unlink_marked(const scope& inside, const wanted_key& key,
                                              node* victim) {
  place where;
  for (backoff wait;; wait()) {
    locate(inside, key, where);
    const locked_place locks(where, victim->height);
    bool is_unchanged = true;
    for (unsigned l = 0; l < victim->height; ++l) {
      is_unchanged &= !where.before[l]->is_marked() && where.before[l]->next_node(l) == victim;
    }
    if (!is_unchanged) continue;
    for (unsigned l = victim->height; l-- > 0;) {
      where.before[l]->set_next(l, victim->next_node(l));
    }
    break;
  }
  victim->unlock();
  count_.add(-1);
  retire_node<Holding>(victim);
}

template <class Holding>
outcome skiplist_herlihy<Holding>::insert(std::string_view key, std::string_view value) {
  const scope inside;
  const wanted_key wanted(key);
  unlinked_node fresh;
  place where;
  for (;;) {
    if (find_settled(inside, wanted, where)) return outcome::unchanged;
    if (!fresh && !(fresh = unlinked_node(node::make(key, value)))) return outcome::no_memory;
    if (link(where, fresh)) return outcome::done;
  }
}

template <class Holding>
outcome skiplist_herlihy<Holding>::upsert(std::string_view key, std::string_view value) {
  const scope inside;
  const wanted_key wanted(key);
  unlinked_node fresh;
  typename Holding::fresh successor;
  place where;
  for (;;) {
    if (node* n = find_settled(inside, wanted, where)) {
      if (!successor && !(successor = Holding::make_successor(n->value, value))) {
        return outcome::no_memory;
      }
      const std::lock_guard held(*n);
      if (n->is_marked()) continue;
      n->value.replace(inside, std::move(successor));
      return outcome::done;
    }
    if (!fresh && !(fresh = unlinked_node(node::make(key, value)))) return outcome::no_memory;
    if (link(where, fresh)) return outcome::done;
  }
}

template <class Holding>
bool skiplist_herlihy<Holding>::erase(std::string_view key) {
  const scope inside;
  const wanted_key wanted(key);
  node* n = search(inside, wanted);
  if (!n || !is_present(n)) return false;
  std::unique_lock held(*n);
  if (n->is_marked()) return false;
  n->mark();
  held.release();
  unlink_marked(inside, wanted, n);
  return true;
}

/// Decides and allocates without a lock, then locks and checks that what was decided upon is still
/// so; a key that many write is soon decided under the lock instead.
template <class Holding>
outcome skiplist_herlihy<Holding>::update(std::string_view key, const updater& decide) {
  const scope inside;
  const wanted_key wanted(key);
  place where;
  for (unsigned tries = 0;; ++tries) {
    node* n = find_settled(inside, wanted, where);
    if (!n) {
      const decision chosen = decide(std::nullopt);
      if (chosen.what != action::write) return outcome::unchanged;
      unlinked_node fresh(node::make(key, chosen.value));
      if (!fresh) return outcome::no_memory;
      if (link(where, fresh)) return outcome::done;
      continue;
    }
    std::unique_lock held(*n, std::defer_lock);
    if (tries >= kOptimisticTries) {
      held.lock();
      if (n->is_marked()) continue;
    }
    const bytes* current = n->value.get(inside);
    const decision chosen = decide(current->view());
    if (chosen.what == action::keep) return outcome::unchanged;
    typename Holding::fresh successor;
    if (chosen.what == action::write) {
      successor = Holding::make_successor(n->value, chosen.value);
      if (!successor) return outcome::no_memory;
    }
    if (!held) held.lock();
    if (n->is_marked() || !n->value.holds(current)) continue;
    if (chosen.what == action::erase) {
      n->mark();
      held.release();
      unlink_marked(inside, wanted, n);
    } else {
      n->value.replace(inside, std::move(successor));
    }
    return outcome::done;
  }
}

template <class Holding>
void skiplist_herlihy<Holding>::clear() {
  const scope inside;
  for (node* n = head_->next_node(0); n; n = n->next_node(0)) erase(n->key.get(inside)->view());
}

// --- in order ----------------------------------------------------------------------------------

/// Follows the bottom level. From a node that was unlinked its own link still leads to every key
/// beyond it that has been present since.
template <class Holding>
void skiplist_herlihy<Holding>::iterate(const scope& inside, std::string_view from, bool beyond,
                                        regard how, const visitor& visit) {
  const wanted_key wanted(from);
  place where;
  locate(inside, wanted, where, how);
  bool is_past_bound = false;
  for (node* n = where.before[0]->next_node(0); n; n = n->next_node(0)) {
    if (!is_present(n)) continue;
    if (!is_past_bound) {
      const auto order = n->compare(inside, wanted, how);
      if (order < 0 || (beyond && order == 0)) continue;
      is_past_bound = true;
    }
    const std::string_view value = look(n->value, inside, how)->view();
    if (!visit(look(n->key, inside, how)->view(), value)) return;
  }
}

/// A node that was passed and has been unlinked still leads to every key beyond it that has been
/// present since.
template <class Holding>
void skiplist_herlihy<Holding>::scan_back(const scope& inside, std::optional<std::string_view> from,
                                          const visitor& visit) {
  skip_detail::scan_back(
      inside, head_, from, visit,
      [&](const wanted_key& bound, bool or_equal, std::vector<node*>& out) {
        place where;
        locate(inside, bound, where);
        node* const start = where.before[skip_detail::kBackLevel];
        skip_detail::gather(inside, head_, start, bound, or_equal, out,
                            [](node* n) { return n->next_node(0); });
        return start;
      },
      &is_present);
}

template <class Holding>
bool skiplist_herlihy<Holding>::is_valid() {
  const scope inside;
  std::size_t nodes = 0;
  for (unsigned level = 0; level < skip_detail::kMaxHeight; ++level) {
    node* before = nullptr;
    for (node* n = head_->next_node(level); n; before = std::exchange(n, n->next_node(level))) {
      const std::string_view key = n->key.get(inside)->view();
      if (n->height <= level || !is_present(n)) return false;
      if (n->start() != skip_detail::key_start(key)) return false;
      if (before && before->key.get(inside)->view() >= key) return false;
      nodes += level == 0;
    }
  }
  return nodes == size();
}

}  // namespace isotherm::index
