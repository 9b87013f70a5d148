// The B+tree: operations that change entries (tree.hpp).
#pragma once

#include "index/btree/tree.hpp"

namespace isotherm::index::btree_detail {

/// Links `fresh` where the search for its key ended; false: there was no room, or something has
/// changed; search again.
template <class Holding, class Latch>
bool tree<Holding, Latch>::attach(const scope& inside, const position& at, std::string_view key,
                                  entry* fresh) {
  leaf* const n = at.at;
  const unsigned count = count_of(n);
  if (count == leaf::kCapacity) {
    make_room(inside, key);
    return false;
  }
  if (!n->latch.upgrade(at.version)) return false;
  open_gap(n->starts, at.where.at, count);
  open_gap(n->entries, at.where.at, count);
  n->starts[at.where.at].store_release(start_of(key, n->skip));
  n->entries[at.where.at].store_release(fresh);
  n->count.store_release(static_cast<std::uint16_t>(count + 1));
  n->latch.unlock_changed();
  return true;
}

/// Unlinks and retires the entry at a position whose leaf this thread has locked, and unlocks the
/// leaf.
template <class Holding, class Latch>
void tree<Holding, Latch>::detach(const scope&, const position& at, std::string_view key) {
  leaf* const n = at.at;
  const unsigned count = count_of(n);
  close_gap(n->starts, at.where.at, count);
  close_gap(n->entries, at.where.at, count);
  n->count.store_release(static_cast<std::uint16_t>(count - 1));
  n->latch.unlock_changed();
  retire_node<Holding>(at.found);
  if (count - 1 < leaf::kCapacity / kUnderfull) tidy(key);
}

}  // namespace isotherm::index::btree_detail
