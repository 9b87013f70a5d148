// hash-pugh's operations (hash_pugh.hpp).
#pragma once

#include "index/hash/hash_pugh.hpp"

namespace isotherm::index {

// --- searching ---------------------------------------------------------------------------------

template <class Holding>
auto hash_pugh<Holding>::lookup(const scope& inside, std::uint64_t hash, std::string_view key,
                                bytes** value) -> node* {
  return table_.find(
      hash, [&](node* n) { return is_node_of(inside, n, hash, key, value); },
      [&] { help_growth(); });
}

template <class Holding>
auto hash_pugh<Holding>::lock(std::uint64_t hash) noexcept -> chain_lock {
  bucket_array* table = table_.load();
  backoff wait;
  for (;;) {
    bucket& where = table->at(hash);
    const std::uint64_t word = where.load();
    if (word == bucket::kMoving) {
      table = table->next.load_acquire();
    } else if ((word & bucket::kLocked) || !where.compare_exchange(word, word | bucket::kLocked)) {
      wait();
    } else {
      return chain_lock(&where, first_of(word));
    }
  }
}

// --- changing ----------------------------------------------------------------------------------

template <class Holding>
bool hash_pugh<Holding>::link_if_absent(const scope& inside, unlinked_node& fresh,
                                        std::string_view key, chain_lock& held) {
  if (!held) held = lock(fresh->hash);
  if (search_chain(inside, held.first(), fresh->hash, key)) return false;
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
  unlinked_node fresh = make_hash_node<Holding, node>(hash, key, value);
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
    unlinked_node fresh = make_hash_node<Holding, node>(hash, key, value);
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
  node* n = search_chain(inside, held.first(), hash, key);
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
    node* n = held ? search_chain(inside, held.first(), hash, key, &current)
                   : lookup(inside, hash, key, &current);
    const decision chosen = n ? decide(current->view()) : decide(std::nullopt);
    if (chosen.what == action::keep || (!n && chosen.what == action::erase)) {
      return outcome::unchanged;
    }
    if (!n) {
      unlinked_node fresh = make_hash_node<Holding, node>(hash, key, chosen.value);
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
  table_.empty_buckets([&](bucket& where) {
    std::uint64_t word = 0;
    for (backoff wait;; wait()) {
      word = where.load();
      if (word == bucket::kMoving) return false;
      if (!(word & bucket::kLocked) && where.compare_exchange(word, 0)) break;
    }
    std::int64_t removed = 0;
    for (node* n = first_of(word); n; ++removed) {
      retire_node<Holding>(std::exchange(n, n->next()));
    }
    if (removed) count_.add(-removed);
    return true;
  });
}

// --- growing -----------------------------------------------------------------------------------

template <class Holding>
void hash_pugh<Holding>::counted_insert() {
  if (count_.add(1) % kInsertsPerLook == 0) {
    table_.consider_growth(count_.sum(), [](std::size_t buckets) { return buckets; });
  }
  help_growth();
}

template <class Holding>
void hash_pugh<Holding>::help_growth() {
  table_.help_growth(&move_bucket);
}

template <class Holding>
void hash_pugh<Holding>::move_bucket(bucket_array& from, bucket_array& to,
                                     std::size_t index) noexcept {
  bucket& source = from.at(index);
  backoff wait;
  std::uint64_t word = source.load();
  while ((word & bucket::kLocked) || !source.compare_exchange(word, word | bucket::kFlags)) {
    wait();
    word = source.load();
  }
  node* heads[2] = {nullptr, nullptr};
  node* tails[2] = {nullptr, nullptr};
  for (node* n = first_of(word); n;) {
    node* following = n->link.load_relaxed();
    const bool high = (n->hash & from.size()) != 0;
    // Release: a search that follows a changed link then sees the bucket's kMoving. Links only ever
    // skip forwards, so no search turns in circles.
    if (tails[high]) {
      tails[high]->link.store_release(n);
    } else {
      heads[high] = n;
    }
    tails[high] = n;
    n = following;
  }
  for (node* tail : tails) {
    if (tail) tail->link.store_release(nullptr);
  }
  to.at(index).store(word_of(heads[0]));
  to.at(index + from.size()).store(word_of(heads[1]));
  source.store(bucket::kMoving);
}

// --- checking ----------------------------------------------------------------------------------

template <class Holding>
bool hash_pugh<Holding>::is_valid() {
  const scope inside;
  std::size_t nodes = 0;
  const bool is_sound = table_.all_of([&](node* n, node* first, auto& table, std::size_t index) {
    const std::string_view key = n->key.get(inside)->view();
    ++nodes;
    return n->hash == hash_of(key) && (n->hash & table.mask()) == index && !n->value.is_null() &&
           search_chain(inside, first, n->hash, key) == n;
  });
  return is_sound && nodes == size();
}

}  // namespace isotherm::index
