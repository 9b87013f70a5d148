// hash-pugh's operations (hash_pugh.hpp).
#pragma once

#include "index/hash/hash_pugh.hpp"

namespace isotherm::index {

template <class Holding>
hash_pugh<Holding>::~hash_pugh() {
  bucket_table* table = root_.load_acquire();
  while (table) {
    for (std::size_t i = 0; i < table->size(); ++i) {
      node* n = first_of(table->at(i).load());
      while (n) destroy_node<Holding>(std::exchange(n, n->next.load_relaxed()));
    }
    bucket_table* next = table->next.load_acquire();
    bucket_table::destroy(std::exchange(table, next));
  }
}

// --- searching ---------------------------------------------------------------------------------

template <class Holding>
auto hash_pugh<Holding>::search(const scope& inside, node* first, std::uint64_t hash,
                                std::string_view key, bytes** value) -> node* {
  // Acquire: pairs with unlink()'s and move_bucket()'s releases.
  for (node* n = first; n; n = n->next.load_acquire()) {
    if (n->hash != hash) continue;
    const bytes* held = n->key.get(inside);
    if (value) {
      *value = n->value.get(inside);  // asked for before the keys are compared: two misses overlap
      prefetch(*value);
    }
    if (held->view() == key) return n;
  }
  return nullptr;
}

template <class Holding>
auto hash_pugh<Holding>::lookup(const scope& inside, std::uint64_t hash, std::string_view key,
                                bytes** value) -> node* {
  bucket_table* table = root_.load_acquire();
  bool met_growth = false;
  backoff wait;
  for (;;) {
    bucket& where = table->at(hash);
    const std::uint64_t word = where.load();
    if (word == bucket::kMoving) [[unlikely]] {
      table = table->next.load_acquire();
      met_growth = true;
      continue;
    }
    node* found = search(inside, first_of(word), hash, key, value);
    // A miss in a chain that is being split proves nothing.
    if (!found && (where.load() & bucket::kMoving)) [[unlikely]] {
      wait();
      continue;
    }
    // Without writers the readers finish the growth, or all would pay two tables for ever.
    if (met_growth) [[unlikely]]
      help_growth();
    return found;
  }
}

template <class Holding>
auto hash_pugh<Holding>::lock(std::uint64_t hash) noexcept -> chain_lock {
  bucket_table* table = root_.load_acquire();
  backoff wait;
  for (;;) {
    bucket& where = table->at(hash);
    const std::uint64_t word = where.load();
    if (word == bucket::kMoving) {
      table = table->next.load_acquire();
    } else if ((word & bucket::kLocked) || !where.try_lock(word, bucket::kLocked)) {
      wait();
    } else {
      return chain_lock(&where, first_of(word));
    }
  }
}

// --- changing ----------------------------------------------------------------------------------

template <class Holding>
auto hash_pugh<Holding>::make_unlinked(std::uint64_t hash, std::string_view key,
                                       std::string_view value) -> unlinked_node {
  auto held_key = Holding::make(key);
  auto held_value = Holding::make(value);
  if (!held_key || !held_value) return nullptr;
  return unlinked_node(
      make_node<Holding, node>(hash, holder(std::move(held_key)), holder(std::move(held_value))));
}

template <class Holding>
bool hash_pugh<Holding>::link_if_absent(const scope& inside, unlinked_node& fresh,
                                        std::string_view key, chain_lock& held) {
  if (!held) held = lock(fresh->hash);
  if (search(inside, held.first(), fresh->hash, key, nullptr)) return false;
  held.link(fresh.release());
  held = chain_lock();
  counted_insert();
  return true;
}

template <class Holding>
void hash_pugh<Holding>::unlink_and_retire(chain_lock&& held, node* n) {
  held.unlink(n);
  held = chain_lock();
  count_.add(-1);
  retire_node<Holding>(n);
  help_growth();
}

template <class Holding>
outcome hash_pugh<Holding>::insert(std::string_view key, std::string_view value) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  if (lookup(inside, hash, key)) return outcome::unchanged;
  unlinked_node fresh = make_unlinked(hash, key, value);
  if (!fresh) return outcome::no_memory;
  chain_lock held;
  return link_if_absent(inside, fresh, key, held) ? outcome::done : outcome::unchanged;
}

template <class Holding>
outcome hash_pugh<Holding>::upsert(std::string_view key, std::string_view value) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  for (;;) {
    if (node* n = lookup(inside, hash, key)) {
      auto successor = Holding::make_successor(n->value, value);
      if (!successor) return outcome::no_memory;
      const chain_lock held = lock(hash);
      if (!held.holds(n)) continue;  // erased meanwhile
      n->value.replace(inside, std::move(successor));
      break;
    }
    unlinked_node fresh = make_unlinked(hash, key, value);
    if (!fresh) return outcome::no_memory;
    chain_lock held;
    if (link_if_absent(inside, fresh, key, held)) return outcome::done;
  }
  help_growth();
  return outcome::done;
}

template <class Holding>
bool hash_pugh<Holding>::erase(std::string_view key) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  if (!lookup(inside, hash, key)) return false;
  chain_lock held = lock(hash);
  node* n = search(inside, held.first(), hash, key, nullptr);
  if (!n) return false;
  unlink_and_retire(std::move(held), n);
  return true;
}

/// Decides and allocates without the lock, then takes it and checks that what was decided upon is
/// still so; a key that many write is soon decided under the lock instead.
template <class Holding>
outcome hash_pugh<Holding>::update(std::string_view key, const updater& decide) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  for (unsigned tries = 0;; ++tries) {
    chain_lock held = tries < kOptimisticTries ? chain_lock() : lock(hash);
    bytes* current = nullptr;
    node* n = held ? search(inside, held.first(), hash, key, &current)
                   : lookup(inside, hash, key, &current);
    const decision chosen = n ? decide(current->view()) : decide(std::nullopt);
    if (chosen.what == action::keep || (!n && chosen.what == action::erase)) {
      return outcome::unchanged;
    }
    if (!n) {
      unlinked_node fresh = make_unlinked(hash, key, chosen.value);
      if (!fresh) return outcome::no_memory;
      if (link_if_absent(inside, fresh, key, held)) return outcome::done;
      continue;
    }
    typename Holding::fresh successor;
    if (chosen.what == action::write) {
      successor = Holding::make_successor(n->value, chosen.value);
      if (!successor) return outcome::no_memory;
    }
    if (!held) held = lock(hash);
    if (!held.holds(n) || !n->value.holds(current)) continue;
    if (chosen.what == action::erase) {
      unlink_and_retire(std::move(held), n);
    } else {
      n->value.replace(inside, std::move(successor));
    }
    return outcome::done;
  }
}

template <class Holding>
void hash_pugh<Holding>::clear() {
  const scope inside;
  for (bucket_table* table = root_.load_acquire(); table; table = table->next.load_acquire()) {
    for (std::size_t i = 0; i < table->size(); ++i) {
      bucket& where = table->at(i);
      backoff wait;
      std::uint64_t word = where.load();
      while (first_of(word) || (word & bucket::kLocked)) {
        if (!(word & bucket::kLocked) && where.try_lock(word, bucket::kLocked)) {
          where.unlock(0);
          break;
        }
        wait();
        word = where.load();
      }
      std::int64_t removed = 0;
      for (node* n = first_of(word); n; ++removed) {
        retire_node<Holding>(std::exchange(n, n->next.load_relaxed()));
      }
      if (removed) count_.add(-removed);
    }
  }
}

// --- growing -----------------------------------------------------------------------------------

template <class Holding>
void hash_pugh<Holding>::counted_insert() {
  if (count_.add(1) % kInsertsPerLook == 0) consider_growth();
  help_growth();
}

template <class Holding>
void hash_pugh<Holding>::consider_growth() {
  bucket_table* table = root_.load_acquire();
  if (table->next.load_acquire() || count_.sum() <= table->size()) return;
  bool expected = false;
  if (!is_allocating_.compare_exchange_acq_rel(expected, true)) return;
  // A table is forgotten only after its next one was set, so a null here is for good.
  if (!table->next.load_acquire()) {
    table->next.store_release(bucket_table::make(table->size() * 2));
  }
  is_allocating_.store_release(false);
}

template <class Holding>
void hash_pugh<Holding>::help_growth() {
  bucket_table* table = root_.load_acquire();
  bucket_table* next = table->next.load_acquire();
  if (!next) [[likely]]
    return;
  const std::size_t begin = table->claimed.fetch_add_relaxed(kMovesAtOnce);
  if (begin >= table->size()) return;
  for (std::size_t i = begin; i < begin + kMovesAtOnce; ++i) move_bucket(*table, *next, i);
  // Acquire and release: the last one forgets a table that all others are done with.
  if (table->moved.fetch_add_acq_rel(kMovesAtOnce) + kMovesAtOnce < table->size()) return;
  root_.store_release(next);
  sync::retire(table, &bucket_table::destroy);
}

template <class Holding>
void hash_pugh<Holding>::move_bucket(bucket_table& from, bucket_table& to,
                                     std::size_t index) noexcept {
  bucket& source = from.at(index);
  backoff wait;
  std::uint64_t word = source.load();
  while ((word & bucket::kLocked) || !source.try_lock(word, bucket::kFlags)) {
    wait();
    word = source.load();
  }
  node* heads[2] = {nullptr, nullptr};
  node* tails[2] = {nullptr, nullptr};
  for (node* n = first_of(word); n;) {
    node* following = n->next.load_relaxed();
    const bool high = (n->hash & from.size()) != 0;
    // Release: a search that follows a changed link then sees the bucket's kMoving. Links only ever
    // skip forwards, so no search turns in circles.
    if (tails[high]) {
      tails[high]->next.store_release(n);
    } else {
      heads[high] = n;
    }
    tails[high] = n;
    n = following;
  }
  for (node* tail : tails) {
    if (tail) tail->next.store_release(nullptr);
  }
  to.at(index).unlock(word_of(heads[0]));
  to.at(index + from.size()).unlock(word_of(heads[1]));
  source.unlock(bucket::kMoving);
}

// --- visiting ----------------------------------------------------------------------------------

template <class Holding>
void hash_pugh<Holding>::collect(bucket_table* table, std::uint64_t index,
                                 std::vector<node*>& out) {
  backoff wait;
  const std::size_t before = out.size();
  for (;;) {
    bucket& where = table->at(index);
    const std::uint64_t word = where.load();
    if (word == bucket::kMoving) {
      bucket_table* next = table->next.load_acquire();
      collect(next, index, out);
      collect(next, index + table->size(), out);
      return;
    }
    for (node* n = first_of(word); n; n = n->next.load_acquire()) out.push_back(n);
    if (!(where.load() & bucket::kMoving)) return;
    out.resize(before);
    wait();
  }
}

/// A piece is some buckets: until it has some pairs, or some hundred buckets were empty. When
/// `visit` ends it, the walk goes on at the bucket in which it ended.
template <class Holding>
std::uint64_t hash_pugh<Holding>::walk(const scope& inside, std::uint64_t cursor,
                                       const visitor& visit) {
  bucket_table* table = root_.load_acquire();
  std::vector<node*> found;
  std::size_t visited = 0;
  for (std::size_t buckets = 0; buckets < kPieceBuckets && visited < kPieceKeys; ++buckets) {
    found.clear();
    collect(table, cursor & table->mask(), found);
    for (node* n : found) {
      if (!visit(n->key.peek(inside)->view(), n->value.peek(inside)->view())) return cursor;
      ++visited;
    }
    cursor = next_cursor(cursor, table->mask());
    if (cursor == 0) break;
  }
  return cursor;
}

template <class Holding>
bool hash_pugh<Holding>::is_valid() {
  const scope inside;
  std::size_t nodes = 0;
  for (bucket_table* table = root_.load_acquire(); table; table = table->next.load_acquire()) {
    for (std::size_t i = 0; i < table->size(); ++i) {
      const std::uint64_t word = table->at(i).load();
      if (word == bucket::kMoving) continue;
      if (word & bucket::kFlags) return false;
      for (node* n = first_of(word); n; n = n->next.load_acquire(), ++nodes) {
        const std::string_view key = n->key.get(inside)->view();
        if (n->hash != hash_of(key) || (n->hash & table->mask()) != i) return false;
        if (n->value.is_null()) return false;
        if (search(inside, first_of(word), n->hash, key, nullptr) != n) return false;
      }
    }
  }
  return nodes == size();
}

}  // namespace isotherm::index
