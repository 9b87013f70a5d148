// The operations of hash-pugh and hash-chm over growing_table: searches take no lock; a write
// decides and allocates without one, then locks the chain and looks again. What locks a chain, and
// how a bucket moves under that lock, is the table's own.
#pragma once

#include <utility>

#include "index/common.hpp"
#include "index/hash/growing_table.hpp"
#include "index/holding.hpp"
#include "index/index.hpp"

namespace isotherm::index {

/// Base of a `Table`, which offers it:
///   chain_lock                       holds a chain until its end, or nothing:
///     first(), holds(n)              the chain's first node, null if empty; whether `n` is in it
///     link(n)                        false: an empty chain, which cannot be locked, is so no more
///     unlink(n)
///   lock(hash)                       waits until it has the chain
///   move_bucket(from, to, index)     as growing_table::help_growth() wants it
///   most_keys(buckets)               keys beyond which the table doubles
///   is_at_rest(n)                    beside no other operation: what is_valid() asks of a node
template <class Table, class Holding, class Node>
class chained_hash {
 public:
  std::optional<std::string_view> find(const scope& inside, std::string_view key) {
    bytes* value = nullptr;
    if (!lookup(inside, hash_of(key), key, &value)) return std::nullopt;
    return value->view();
  }
  outcome insert(std::string_view key, std::string_view value);
  outcome upsert(std::string_view key, std::string_view value);
  bool erase(std::string_view key);
  outcome update(std::string_view key, const updater& decide);

  std::uint64_t walk(const scope& inside, std::uint64_t cursor, const visitor& visit) {
    return table_.walk(inside, cursor, visit);
  }
  std::size_t size() const noexcept { return count_.sum(); }
  bool is_valid();

 protected:
  using table_of_nodes = growing_table<Holding, Node>;
  using bucket_array = typename table_of_nodes::table;

  explicit chained_hash(std::size_t expected_buckets) : table_(expected_buckets) {}
  void help_growth() { table_.help_growth(&Table::move_bucket); }

  table_of_nodes table_;
  striped_counter count_;

 private:
  using unlinked_node = unlinked<Holding, Node>;
  enum class linking : std::uint8_t { done, present, changed };

  static constexpr std::int64_t kInsertsPerLook = 64;  // how often growth is considered
  static constexpr unsigned kOptimisticTries = 4;

  Table& self() noexcept { return static_cast<Table&>(*this); }
  Node* lookup(const scope& inside, std::uint64_t hash, std::string_view key,
               bytes** value = nullptr);
  // Templates, because Table is not complete yet where its base is made.
  template <class Lock>
  linking link(const scope& inside, unlinked_node& fresh, std::string_view key, Lock& held);
  template <class Lock>
  void unlink_and_retire(Lock&& held, Node* n);
};

template <class Table, class Holding, class Node>
Node* chained_hash<Table, Holding, Node>::lookup(const scope& inside, std::uint64_t hash,
                                                 std::string_view key, bytes** value) {
  return table_.find(
      hash, [&](Node* n) { return is_node_of(inside, n, hash, key, value); },
      [&] { help_growth(); });
}

/// Links `fresh` into its chain, which `held` may hold already; lets go of the chain when done.
template <class Table, class Holding, class Node>
template <class Lock>
auto chained_hash<Table, Holding, Node>::link(const scope& inside, unlinked_node& fresh,
                                              std::string_view key, Lock& held) -> linking {
  if (!held) held = self().lock(fresh->hash);
  if (search_chain(inside, held.first(), fresh->hash, key)) return linking::present;
  const bool is_linked = held.link(fresh.get());
  if (is_linked) fresh.release();
  held = Lock();
  if (!is_linked) return linking::changed;
  if (count_.add(1) % kInsertsPerLook == 0) {
    table_.consider_growth(count_.sum(), &Table::most_keys);
  }
  help_growth();
  return linking::done;
}

template <class Table, class Holding, class Node>
template <class Lock>
void chained_hash<Table, Holding, Node>::unlink_and_retire(Lock&& held, Node* n) {
  held.unlink(n);
  held = Lock();
  count_.add(-1);
  retire_node<Holding>(n);
  help_growth();
}

template <class Table, class Holding, class Node>
outcome chained_hash<Table, Holding, Node>::insert(std::string_view key, std::string_view value) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  if (lookup(inside, hash, key)) return outcome::unchanged;
  unlinked_node fresh = make_hash_node<Holding, Node>(hash, key, value);
  if (!fresh) return outcome::no_memory;
  for (;;) {
    typename Table::chain_lock held;
    const linking how = link(inside, fresh, key, held);
    if (how == linking::changed) continue;
    return how == linking::done ? outcome::done : outcome::unchanged;
  }
}

template <class Table, class Holding, class Node>
outcome chained_hash<Table, Holding, Node>::upsert(std::string_view key, std::string_view value) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  unlinked_node fresh;
  for (;;) {
    if (Node* n = lookup(inside, hash, key)) {
      auto successor = Holding::make_successor(n->value, value);
      if (!successor) return outcome::no_memory;
      const typename Table::chain_lock held = self().lock(hash);
      if (!held.holds(n)) continue;  // erased meanwhile
      n->value.replace(inside, std::move(successor));
      return outcome::done;
    }
    if (!fresh && !(fresh = make_hash_node<Holding, Node>(hash, key, value))) {
      return outcome::no_memory;
    }
    typename Table::chain_lock held;
    if (link(inside, fresh, key, held) == linking::done) return outcome::done;
  }
}

template <class Table, class Holding, class Node>
bool chained_hash<Table, Holding, Node>::erase(std::string_view key) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  if (!lookup(inside, hash, key)) return false;
  typename Table::chain_lock held = self().lock(hash);
  Node* n = search_chain(inside, held.first(), hash, key);
  if (!n) return false;
  unlink_and_retire(std::move(held), n);
  return true;
}

/// Decides and allocates without the lock, then takes it and checks that what was decided upon is
/// still so; a key that many write is soon decided under the lock instead.
template <class Table, class Holding, class Node>
outcome chained_hash<Table, Holding, Node>::update(std::string_view key, const updater& decide) {
  const scope inside;
  const std::uint64_t hash = hash_of(key);
  for (unsigned tries = 0;; ++tries) {
    typename Table::chain_lock held;
    if (tries >= kOptimisticTries) held = self().lock(hash);
    bytes* current = nullptr;
    Node* n = held ? search_chain(inside, held.first(), hash, key, &current)
                   : lookup(inside, hash, key, &current);
    const decision chosen = n ? decide(current->view()) : decide(std::nullopt);
    if (chosen.what == action::keep || (!n && chosen.what == action::erase)) {
      return outcome::unchanged;
    }
    if (!n) {
      unlinked_node fresh = make_hash_node<Holding, Node>(hash, key, chosen.value);
      if (!fresh) return outcome::no_memory;
      if (link(inside, fresh, key, held) == linking::done) return outcome::done;
      continue;
    }
    typename Holding::fresh successor;
    if (chosen.what == action::write) {
      successor = Holding::make_successor(n->value, chosen.value);
      if (!successor) return outcome::no_memory;
    }
    if (!held) held = self().lock(hash);
    if (!held.holds(n) || !n->value.holds(current)) continue;
    if (chosen.what == action::erase) {
      unlink_and_retire(std::move(held), n);
    } else {
      n->value.replace(inside, std::move(successor));
    }
    return outcome::done;
  }
}

template <class Table, class Holding, class Node>
bool chained_hash<Table, Holding, Node>::is_valid() {
  const scope inside;
  std::size_t nodes = 0;
  const bool is_sound = table_.all_of([&](Node* n, Node* first, auto& table, std::size_t index) {
    const std::string_view key = n->key.get(inside)->view();
    ++nodes;
    return n->hash == hash_of(key) && (n->hash & table.mask()) == index && Table::is_at_rest(n) &&
           !n->value.is_null() && search_chain(inside, first, n->hash, key) == n;
  });
  return is_sound && nodes == size();
}

}  // namespace isotherm::index
