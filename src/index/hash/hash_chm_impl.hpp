// hash-chm's operations (hash_chm.hpp).
#pragma once

#include "index/hash/hash_chm.hpp"

namespace isotherm::index {

// --- searching ---------------------------------------------------------------------------------

template <class Holding>
auto hash_chm<Holding>::lookup(const scope& inside, std::uint64_t hash, std::string_view key,
                               bytes** value) -> node* {
  return table_.find(
      hash, [&](node* n) { return is_node_of(inside, n, hash, key, value); },
      [&] { help_growth(); });
}

/// Locks the bin whose word was `word`, which has a node; false when that has changed or somebody
/// else holds it.
template <class Holding>
auto hash_chm<Holding>::try_lock(bucket& where, std::uint64_t word) noexcept -> bin {
  node* head = table_of_nodes::first_of(word);
  if ((word & bucket::kMoving) || !head->try_lock()) return bin();
  bin held(&where, head);
  // The lock is the bin's only while the node heads it.
  return where.load() == word ? std::move(held) : bin();
}

template <class Holding>
auto hash_chm<Holding>::lock(std::uint64_t hash) noexcept -> bin {
  bucket_array* table = table_.load();
  for (backoff wait;;) {
    bucket& where = table->at(hash);
    const std::uint64_t word = where.load();
    if (word == bucket::kMoving) {
      help_growth();
      table = table->next.load_acquire();
      continue;
    }
    if (word == 0) return bin(&where, nullptr);
    if (bin held = try_lock(where, word)) return held;
    wait();
  }
}

// --- changing ----------------------------------------------------------------------------------

/// Links `fresh` into its bin, which `held` may hold already, and lets go of the bin.
template <class Holding>
auto hash_chm<Holding>::link(const scope& inside, unlinked_node& fresh, std::string_view key,
                             bin& held) -> linking {
  if (!held) held = lock(fresh->hash);
  if (!held.head()) {
    if (!held.where().compare_exchange(0, table_of_nodes::word_of(fresh.get()))) {
      held = bin();
      return linking::changed;
    }
    fresh.release();
  } else {
    if (search_chain(inside, held.head(), fresh->hash, key)) return linking::present;
    held.append(fresh.release());
  }
  held = bin();
  if (count_.add(1) % kInsertsPerLook == 0) {
    table_.consider_growth(count_.sum(), [](std::size_t bins) { return bins - bins / 4; });
  }
  help_growth();
  return linking::done;
}

template <class Holding>
void hash_chm<Holding>::unlink_and_retire(bin&& held, node* n) {
  held.unlink(n);
  held = bin();
  count_.add(-1);
  retire_node<Holding>(n);
  help_growth();
}

template <class Holding>
outcome hash_chm<Holding>::insert(std::string_view key, std::string_view value) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  if (lookup(inside, hash, key)) return outcome::unchanged;
  unlinked_node fresh = make_hash_node<Holding, node>(hash, key, value);
  if (!fresh) return outcome::no_memory;
  for (;;) {
    bin held;
    const linking how = link(inside, fresh, key, held);
    if (how == linking::changed) continue;
    return how == linking::done ? outcome::done : outcome::unchanged;
  }
}

template <class Holding>
outcome hash_chm<Holding>::upsert(std::string_view key, std::string_view value) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  unlinked_node fresh;
  for (;;) {
    if (node* n = lookup(inside, hash, key)) {
      auto successor = Holding::make_successor(n->value, value);
      if (!successor) return outcome::no_memory;
      const bin held = lock(hash);
      if (!held.holds(n)) continue;  // erased meanwhile
      n->value.replace(inside, std::move(successor));
      return outcome::done;
    }
    if (!fresh && !(fresh = make_hash_node<Holding, node>(hash, key, value)))
      return outcome::no_memory;
    bin held;
    if (link(inside, fresh, key, held) == linking::done) return outcome::done;
  }
}

template <class Holding>
bool hash_chm<Holding>::erase(std::string_view key) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  if (!lookup(inside, hash, key)) return false;
  bin held = lock(hash);
  node* n = search_chain(inside, held.head(), hash, key);
  if (!n) return false;
  unlink_and_retire(std::move(held), n);
  return true;
}

/// Decides and allocates without the lock, then takes it and checks that what was decided upon is
/// still so; a key that many write is soon decided under the lock instead.
template <class Holding>
outcome hash_chm<Holding>::update(std::string_view key, const updater& decide) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  for (unsigned tries = 0;; ++tries) {
    bin held = tries < kOptimisticTries ? bin() : lock(hash);
    bytes* current = nullptr;
    node* n = held ? search_chain(inside, held.head(), hash, key, &current)
                   : lookup(inside, hash, key, &current);
    const decision chosen = n ? decide(current->view()) : decide(std::nullopt);
    if (chosen.what == action::keep || (!n && chosen.what == action::erase)) {
      return outcome::unchanged;
    }
    if (!n) {
      unlinked_node fresh = make_hash_node<Holding, node>(hash, key, chosen.value);
      if (!fresh) return outcome::no_memory;
      if (link(inside, fresh, key, held) == linking::done) return outcome::done;
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
void hash_chm<Holding>::clear() {
  const scope inside;
  table_.empty_buckets([&](bucket& where) {
    for (backoff wait;; wait()) {
      const std::uint64_t word = where.load();
      if (word == 0 || word == bucket::kMoving) return word == 0;
      const bin held = try_lock(where, word);
      if (!held) continue;
      where.store(0);
      std::int64_t removed = 0;
      for (node* n = held.head(); n; ++removed) {
        retire_node<Holding>(std::exchange(n, n->next()));
      }
      count_.add(-removed);
      return true;
    }
  });
}

// --- growing -----------------------------------------------------------------------------------

template <class Holding>
void hash_chm<Holding>::help_growth() {
  table_.help_growth(&move_bucket);
}

template <class Holding>
void hash_chm<Holding>::move_bucket(bucket_array& from, bucket_array& to,
                                    std::size_t index) noexcept {
  bucket& source = from.at(index);
  bin held;
  for (backoff wait; !held;) {
    const std::uint64_t word = source.load();
    if (word == 0) {
      if (source.compare_exchange(0, bucket::kMoving)) return;
    } else if (!(held = try_lock(source, word))) {
      wait();
    }
  }
  source.store(table_of_nodes::word_of(held.head()) | bucket::kMoving);
  node* heads[2] = {nullptr, nullptr};
  node* tails[2] = {nullptr, nullptr};
  for (node* n = held.head(); n;) {
    node* following = n->next();
    const bool high = (n->hash & from.size()) != 0;
    // A search that follows a changed link sees the bucket's kMoving. Links only ever skip
    // forwards, so no search turns in circles.
    if (tails[high]) {
      tails[high]->set_next(n);
    } else {
      heads[high] = n;
    }
    tails[high] = n;
    n = following;
  }
  for (node* tail : tails) {
    if (tail) tail->set_next(nullptr);
  }
  to.at(index).store(table_of_nodes::word_of(heads[0]));
  to.at(index + from.size()).store(table_of_nodes::word_of(heads[1]));
  source.store(bucket::kMoving);
}

// --- checking ----------------------------------------------------------------------------------

template <class Holding>
bool hash_chm<Holding>::is_valid() {
  const scope inside;
  std::size_t nodes = 0;
  const bool is_sound = table_.all_of([&](node* n, node* first, auto& table, std::size_t index) {
    const std::string_view key = n->key.get(inside)->view();
    ++nodes;
    return n->hash == hash_of(key) && (n->hash & table.mask()) == index && !n->is_locked() &&
           !n->value.is_null() && search_chain(inside, first, n->hash, key) == n;
  });
  return is_sound && nodes == size();
}

}  // namespace isotherm::index
