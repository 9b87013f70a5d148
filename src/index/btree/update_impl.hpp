// The B+tree: operations that change entries (tree.hpp).
#pragma once

#include "index/btree/tree.hpp"

namespace isotherm::index::btree_detail {

template <class Holding, class Latch>
auto tree<Holding, Latch>::make_entry(std::string_view key, std::string_view value)
    -> unlinked_entry {
  auto held_key = Holding::make(key);
  auto held_value = Holding::make(value);
  if (!held_key || !held_value) return nullptr;
  return unlinked_entry(
      make_node<Holding, entry>(holder(std::move(held_key)), holder(std::move(held_value))));
}

/// Links `fresh` where the search for its key ended; false: there was no room, or something has
/// changed; search again.
template <class Holding, class Latch>
bool tree<Holding, Latch>::link(const position& at, std::string_view key, unlinked_entry& fresh) {
  leaf* const n = at.at;
  const unsigned count = count_of(n);
  if (count == leaf::kCapacity) {
    make_room(scope(), key);
    return false;
  }
  if (!n->latch.upgrade(at.version)) return false;
  open_gap(n->starts, at.where.at, count);
  open_gap(n->entries, at.where.at, count);
  n->starts[at.where.at].store_release(start_of(key, n->skip));
  n->entries[at.where.at].store_release(fresh.release());
  n->count.store_release(static_cast<std::uint16_t>(count + 1));
  n->latch.unlock_changed();
  count_.add(1);
  return true;
}

/// Unlinks the entry at a position whose leaf this thread has locked, and unlocks the leaf.
template <class Holding, class Latch>
void tree<Holding, Latch>::unlink_and_retire(const position& at, std::string_view key) {
  leaf* const n = at.at;
  const unsigned count = count_of(n);
  close_gap(n->starts, at.where.at, count);
  close_gap(n->entries, at.where.at, count);
  n->count.store_release(static_cast<std::uint16_t>(count - 1));
  n->latch.unlock_changed();
  count_.add(-1);
  retire_node<Holding>(at.found);
  if (count - 1 < leaf::kCapacity / kUnderfull) tidy(key);
}

template <class Holding, class Latch>
outcome tree<Holding, Latch>::insert(std::string_view key, std::string_view value) {
  const scope inside;
  unlinked_entry fresh;
  for (;;) {
    const position at = locate(inside, key);
    if (at.found) return outcome::unchanged;
    if (!fresh && !(fresh = make_entry(key, value))) return outcome::no_memory;
    if (link(at, key, fresh)) return outcome::done;
  }
}

template <class Holding, class Latch>
outcome tree<Holding, Latch>::upsert(std::string_view key, std::string_view value) {
  const scope inside;
  unlinked_entry fresh;
  typename Holding::fresh successor;
  for (;;) {
    const position at = locate(inside, key);
    if (!at.found) {
      if (!fresh && !(fresh = make_entry(key, value))) return outcome::no_memory;
      if (link(at, key, fresh)) return outcome::done;
      continue;
    }
    holder& held = at.found->value;
    if (!successor && !(successor = Holding::make_successor(held, value))) {
      return outcome::no_memory;
    }
    // The lock keeps the entry where it is; the leaf itself does not change.
    if (!at.at->latch.upgrade(at.version)) continue;
    held.replace(inside, std::move(successor));
    at.at->latch.unlock_unchanged();
    return outcome::done;
  }
}

template <class Holding, class Latch>
bool tree<Holding, Latch>::erase(std::string_view key) {
  const scope inside;
  for (;;) {
    const position at = locate(inside, key);
    if (!at.found) return false;
    if (!at.at->latch.upgrade(at.version)) continue;
    unlink_and_retire(at, key);
    return true;
  }
}

/// Decides and allocates without a lock, then locks and checks that what was decided upon is still
/// so; a key that many write is soon decided under the lock instead.
template <class Holding, class Latch>
outcome tree<Holding, Latch>::update(std::string_view key, const updater& decide) {
  const scope inside;
  for (unsigned tries = 0;; ++tries) {
    const position at = locate(inside, key);
    if (!at.found) {
      const decision chosen = decide(std::nullopt);
      if (chosen.what != action::write) return outcome::unchanged;
      unlinked_entry fresh = make_entry(key, chosen.value);
      if (!fresh) return outcome::no_memory;
      if (link(at, key, fresh)) return outcome::done;
      continue;
    }
    Latch& latch = at.at->latch;
    const bool is_locked = tries >= kOptimisticTries;
    if (is_locked && !latch.upgrade(at.version)) continue;
    holder& held = at.found->value;
    const bytes* current = held.get(inside);
    const decision chosen = decide(current->view());
    typename Holding::fresh successor;
    const bool is_short =
        chosen.what == action::write && !(successor = Holding::make_successor(held, chosen.value));
    if (chosen.what == action::keep || is_short) {
      if (is_locked) latch.unlock_unchanged();
      return is_short ? outcome::no_memory : outcome::unchanged;
    }
    if (!is_locked && !latch.upgrade(at.version)) continue;
    if (!held.holds(current)) {
      latch.unlock_unchanged();
      continue;
    }
    if (chosen.what == action::erase) {
      unlink_and_retire(at, key);
    } else {
      held.replace(inside, std::move(successor));
      latch.unlock_unchanged();
    }
    return outcome::done;
  }
}

}  // namespace isotherm::index::btree_detail
