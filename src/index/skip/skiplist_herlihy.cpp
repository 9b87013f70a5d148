#include "index/skip/skiplist_herlihy.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

// --- searching ---------------------------------------------------------------------------------

template <class Storage>
auto skiplist_herlihy<Storage>::search(access& inside, const wanted_key& key) -> node* {
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

template <class Storage>
void skiplist_herlihy<Storage>::locate(access& inside, const wanted_key& key, position& where,
                                       reading how) {
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

/// Locates the key so; waits while the node with the key is being inserted or removed.
template <class Storage>
auto skiplist_herlihy<Storage>::locate(access& inside, std::string_view key) -> position {
  const wanted_key wanted(key);
  position p;
  for (backoff wait;; wait()) {
    locate(inside, wanted, p);
    if (!p.found || is_present(p.found)) return p;
  }
}

// --- changing ----------------------------------------------------------------------------------

/// Locks the node found; false: it has been erased.
template <class Storage>
bool skiplist_herlihy<Storage>::try_lock(access&, const position& p, std::string_view) noexcept {
  p.found->lock();
  if (!p.found->is_marked()) return true;
  p.found->unlock();
  return false;
}

/// Links `created` where the search ended; false: the place has changed.
template <class Storage>
bool skiplist_herlihy<Storage>::attach(access&, const position& where, std::string_view,
                                       node* created) noexcept {
  const unsigned height = created->height;
  const locked_place locks(where, height);
  for (unsigned l = 0; l < height; ++l) {
    if (where.before[l]->is_marked() || (where.after[l] && where.after[l]->is_marked()) ||
        where.before[l]->next_node(l) != where.after[l]) {
      return false;
    }
  }
  for (unsigned l = 0; l < height; ++l) created->set_next(l, where.after[l]);
  for (unsigned l = 0; l < height; ++l) where.before[l]->set_next(l, created);
  created->set_linked();
  return true;
}

/// Unlinks the node found if the nodes that link to it are still those that the search saw.
template <class Storage>
bool skiplist_herlihy<Storage>::try_unlink(const position& where, node* victim) noexcept {
  const locked_place locks(where, victim->height);
  for (unsigned l = 0; l < victim->height; ++l) {
    if (where.before[l]->is_marked() || where.before[l]->next_node(l) != victim) return false;
  }
  for (unsigned l = victim->height; l-- > 0;) {
    where.before[l]->set_next(l, victim->next_node(l));
  }
  return true;
}

/// Marks, unlinks and retires the node found, which this thread has locked, and unlocks it.
template <class Storage>
void skiplist_herlihy<Storage>::detach(access& inside, position& where, std::string_view key) {
  node* const victim = where.found;
  victim->mark();
  for (backoff wait; !try_unlink(where, victim); wait()) {
    locate(inside, wanted_key(key), where);
    // A key that cannot be read leads past the node, which is then looked for by the list alone.
    // Not at first: that takes a step for each key with the same start.
    while (where.found != victim && !find_before(victim, where)) wait();
  }
  victim->unlock();
  retire_node<Storage>(victim);
}

/// Removes one node after the other by the list alone: no key is read.
template <class Storage>
void skiplist_herlihy<Storage>::clear() {
  access inside;
  for (node* n = head_->next_node(0); n; n = n->next_node(0)) {
    if (!n->is_linked()) continue;  // it is being inserted
    n->lock();
    if (n->is_marked()) {
      n->unlock();
      continue;
    }
    this->count_.add(-1);
    n->mark();
    position where;
    for (backoff wait; !find_before(n, where) || !try_unlink(where, n);) wait();
    n->unlock();
    retire_node<Storage>(n);
  }
}

/// Finds the nodes that link to `n`, on its levels, without reading a key: it is looked for among
/// the nodes whose keys begin as its own does. False: something has changed.
template <class Storage>
bool skiplist_herlihy<Storage>::find_before(const node* n, position& where) noexcept {
  node* at = head_;
  for (unsigned level = skip_detail::kMaxHeight; level-- > 0;) {
    const bool is_here = level < n->height;
    for (node* next = at->next_node(level); next != n; next = at->next_node(level)) {
      const bool is_passed = !next || next->start() > n->start();
      if (is_here && is_passed) return false;
      if (!is_here && (is_passed || next->start() == n->start())) break;
      at = next;
    }
    where.before[level] = at;
  }
  return true;
}

// --- in order ----------------------------------------------------------------------------------

/// Follows the bottom level. The link of an unlinked node still leads to every key behind it that
/// has been present since.
template <class Storage>
template <class Visit>
void skiplist_herlihy<Storage>::go_up(access& inside, const scan_start& from, reading how,
                                      const Visit& visit) {
  const wanted_key wanted(from.key);
  position where;
  locate(inside, wanted, where, how);
  bool is_past_bound = false;
  for (node* n = where.before[0]->next_node(0); n; n = n->next_node(0)) {
    if (!is_present(n)) continue;
    if (!is_past_bound) {
      const auto order = n->compare(inside, wanted, how);
      if (order < 0 || (order == 0 && from.kind == bound::exclusive)) continue;
      is_past_bound = true;
    }
    const auto value = read_value(n->value, inside, how);
    if (!visit(read(n->key, inside, how), value)) return;
  }
}

template <class Storage>
bool skiplist_herlihy<Storage>::is_valid() {
  access inside;
  return skip_detail::are_levels_valid(inside, head_, this->size(), &is_present);
}

template class skiplist_herlihy<managed>;
template class skiplist_herlihy<unmanaged>;
template std::unique_ptr<any_index> make_adapter<skiplist_herlihy>(management, std::size_t);

}  // namespace isotherm::index
