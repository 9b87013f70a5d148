#include "index/skip/skiplist_fraser.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

// --- searching ---------------------------------------------------------------------------------

/// A node of the bottom level that is not far before the key, or not before it; null when the key
/// is behind all nodes. On the way down a marked link is never followed: its node may have been
/// unlinked from the lower levels before this scope opened (a link made late on an upper level
/// still led to it), and the node that the link leads to may be freed. An unmarked link leads to a
/// node that is in the list now; from such a node on, any link of the bottom level may be followed.
template <class Storage>
auto skiplist_fraser<Storage>::first_near(access& inside, const wanted_key& key, reading how)
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
  position where;
  locate(inside, key, where);
  return where.after[0];
}

/// Finds the neighbours, and unlinks the marked nodes on the way; false: start again.
template <class Storage>
bool skiplist_fraser<Storage>::try_locate(access& inside, const wanted_key& key, position& where) {
  where.found = nullptr;
  node* before = head_;
  for (unsigned level = skip_detail::kMaxHeight; level-- > 0;) {
    link seen = before->next(level).load_acquire();
    for (;;) {
      if (seen & kMark) return false;  // the node before is being removed
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

template <class Storage>
void skiplist_fraser<Storage>::locate(access& inside, const wanted_key& key, position& where) {
  for (backoff wait; !try_locate(inside, key, where);) wait();
}

template <class Storage>
std::optional<std::string_view> skiplist_fraser<Storage>::find(access& inside,
                                                               std::string_view key) {
  const wanted_key wanted(key);
  // An erased node of the key does not prove that the key is absent: linked late, it may stand
  // before one that is present.
  for (node* n = first_near(inside, wanted); n; n = next_of(n, 0)) {
    const auto order = n->compare(inside, wanted);
    if (order > 0) break;
    if (order < 0) continue;
    if (const auto value = read(n->value, inside)) return value;
  }
  return std::nullopt;
}

// --- changing ----------------------------------------------------------------------------------

/// Links the node where the search ended; false: the place has changed.
template <class Storage>
bool skiplist_fraser<Storage>::attach(access& inside, position& where, std::string_view key,
                                      node* n) {
  for (unsigned l = 0; l < n->height; ++l) n->set_next(l, where.after[l]);
  link expected = link_to(where.after[0]);
  if (!where.before[0]->next(0).compare_exchange_acq_rel(expected, link_to(n))) return false;
  count_.add(1);
  const wanted_key wanted(key);
  link_above(inside, wanted, where, n);
  if (n->progress.fetch_or_acq_rel(progress_state::kLinked) & progress_state::kErased) {
    unlink_and_retire(wanted, where, n);
  }
  return true;
}

template <class Storage>
void skiplist_fraser<Storage>::link_above(access& inside, const wanted_key& key, position& where,
                                          node* n) {
  for (unsigned l = 1; l < n->height; ++l) {
    for (;;) {
      // Each level links only one node of a key, as Fraser's does. An erased node of the same key
      // behind this one would not be found by its eraser's search, and would stay linked after it
      // is retired. By now it is marked on all levels, so that locate() unlinks it.
      if (where.after[l] && where.after[l]->compare(inside, key) == 0) {
        locate(inside, key, where);
        if (where.found != n) return;
      }
      link mine = n->next(l).load_acquire();
      if (mine & kMark) return;
      if (mine != link_to(where.after[l]) &&
          !n->next(l).compare_exchange_acq_rel(mine, link_to(where.after[l]))) {
        return;  // marked meanwhile
      }
      link expected = link_to(where.after[l]);
      if (where.before[l]->next(l).compare_exchange_acq_rel(expected, link_to(n))) break;
      locate(inside, key, where);
      if (where.found != n) return;  // erased meanwhile
    }
  }
}

/// Marks and unlinks a node whose value this thread has emptied.
template <class Storage>
void skiplist_fraser<Storage>::remove(access& inside, position& where, std::string_view key) {
  node* const n = where.found;
  mark(n);
  const auto before = n->progress.fetch_or_acq_rel(progress_state::kErased);
  if (before & progress_state::kLinked) {
    unlink_and_retire(wanted_key(key), where, n);
  } else {
    locate(inside, wanted_key(key), where);
  }
}

/// Unlinks and retires a node that is marked and that no thread links any more. The search passes
/// the keys behind it, which the search that found it has not read: it waits for them, because one
/// that went past the node would leave it linked. If the disk does not give one, the node is left,
/// with its memory.
template <class Storage>
void skiplist_fraser<Storage>::unlink_and_retire(const wanted_key& key, position& where, node* n) {
  access waits;
  locate(waits, key, where);
  if (!Storage::has_lost(waits)) retire_node<Storage>(n);
}

/// Removes one node after the other by the list alone: no key is read.
template <class Storage>
void skiplist_fraser<Storage>::clear() {
  access inside;
  for (node* n = next_of(head_, 0); n; n = next_of(n, 0)) {
    if (!n->value.clear(inside)) continue;
    count_.add(-1);
    mark(n);
    const auto before = n->progress.fetch_or_acq_rel(progress_state::kErased);
    if (!(before & progress_state::kLinked)) continue;  // its inserter unlinks and retires it
    for (backoff wait; !try_unlink(n);) wait();
    retire_node<Storage>(n);
  }
}

/// Unlinks a marked node that no thread links any more, without reading a key: it is looked for
/// among the nodes whose keys begin as its own does. Unlinks other marked nodes on the way. False:
/// start again.
template <class Storage>
bool skiplist_fraser<Storage>::try_unlink(node* gone) {
  node* before = head_;  // comes before `gone`
  for (unsigned level = skip_detail::kMaxHeight; level-- > 0;) {
    const bool may_be_here = level < gone->height;
    node* at = before;
    link seen = at->next(level).load_acquire();
    for (;;) {
      if (seen & kMark) return false;  // `at` is being removed
      node* const n = node_of(seen);
      if (!n || n->start() > gone->start()) break;
      if (n->start() == gone->start() && !may_be_here) break;
      const link next = n->next(level).load_acquire();
      if (next & kMark) {
        link expected = seen;
        if (!at->next(level).compare_exchange_acq_rel(expected, next & ~kMark)) return false;
        if (n == gone) {
          before = at;
          break;
        }
        seen = next & ~kMark;
        continue;
      }
      at = n;
      if (at->start() < gone->start()) before = at;
      seen = next;
    }
  }
  return true;
}

// --- in order ----------------------------------------------------------------------------------

/// Follows the bottom level. The marked link of an unlinked node still leads to every key behind it
/// that has been present since.
template <class Storage>
template <class Visit>
void skiplist_fraser<Storage>::go_up(access& inside, const scan_start& from, reading how,
                                     const Visit& visit) {
  const wanted_key wanted(from.key);
  bool is_past_bound = false;
  for (node* n = first_near(inside, wanted, how); n; n = next_of(n, 0)) {
    if (!is_past_bound) {
      const auto order = n->compare(inside, wanted, how);
      if (order < 0 || (order == 0 && from.kind == bound::exclusive)) continue;
      is_past_bound = true;
    }
    const auto value = read_value(n->value, inside, how);
    if (!value && n->value.is_null()) continue;  // erased
    if (!visit(read(n->key, inside, how), value)) return;
  }
}

template <class Storage>
bool skiplist_fraser<Storage>::is_valid() {
  access inside;
  // Marks are looked for first: next_node() would return one as a part of the address.
  for (unsigned level = 0; level < skip_detail::kMaxHeight; ++level) {
    for (node* n = head_; n; n = next_of(n, level)) {
      if (n->next(level).load_acquire() & kMark) return false;
    }
  }
  return skip_detail::are_levels_valid(inside, head_, this->size(), [](node*) { return true; });
}

template class skiplist_fraser<managed>;
template class skiplist_fraser<unmanaged>;
template std::unique_ptr<any_index> make_adapter<skiplist_fraser>(management, std::size_t);

}  // namespace isotherm::index
