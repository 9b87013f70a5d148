// The operations that write, for the trees whose searches take no lock (art, masstree, the
// B+trees): search, decide and allocate without a lock; then lock the node where the search ended
// if it is still as the search saw it, or else search again. What nodes are, how a version tells of
// their changes and what must be locked to link or unlink is the tree's own.
#pragma once

#include <string_view>
#include <utility>

#include "index/common.hpp"
#include "index/holding.hpp"
#include "index/index.hpp"

namespace isotherm::index {

/// What a tree's links lead to at the end: the guides, which must not move.
template <class Holding>
struct tree_entry {
  using holder = typename Holding::holder;
  tree_entry(holder&& k, holder&& v) noexcept : key(std::move(k)), value(std::move(v)) {}
  holder key, value;
};

/// Base of a `Tree`, which offers it:
///   position                   where a search for a key ended, and under which version
///   locate(inside, key)        searches, without a lock
///   found(inside, at, key)     the key's entry there, or null
///   try_lock(at)               locks the node there; false: it is not as the search saw it
///   unlock(at)                 after no more than an entry's value has changed
///   attach(inside, at, key, e) links the entry where the search ended; false: search again
///   detach_and_retire(at, key) unlinks the entry there and unlocks the node, which is locked
template <class Tree, class Holding>
class optimistic_tree {
 public:
  outcome insert(std::string_view key, std::string_view value);
  outcome upsert(std::string_view key, std::string_view value);
  bool erase(std::string_view key);
  outcome update(std::string_view key, const updater& decide);
  std::size_t size() const noexcept { return count_.sum(); }

 protected:
  using holder = typename Holding::holder;
  using entry = tree_entry<Holding>;

  striped_counter count_;

 private:
  using unlinked_entry = unlinked<Holding, entry>;

  static constexpr unsigned kOptimisticTries = 4;

  /// The lock of a place, let go of at the end of its block also when the caller's function throws.
  template <class Position>
  class place_lock {
   public:
    place_lock(Tree& tree, const Position& at) noexcept : tree_(tree), at_(at) {}
    ~place_lock() {
      if (is_held_) tree_.unlock(at_);
    }
    place_lock(const place_lock&) = delete;
    place_lock& operator=(const place_lock&) = delete;
    bool try_take() { return is_held_ = tree_.try_lock(at_); }
    bool is_held() const noexcept { return is_held_; }
    void forget() noexcept { is_held_ = false; }  // somebody else unlocks

   private:
    Tree& tree_;
    const Position& at_;
    bool is_held_ = false;
  };

  Tree& self() noexcept { return static_cast<Tree&>(*this); }
  static unlinked_entry make_entry(std::string_view key, std::string_view value);
  template <class Position>
  bool link(const scope& inside, const Position& at, std::string_view key, unlinked_entry& fresh);
};

/// Null when memory is exhausted.
template <class Tree, class Holding>
auto optimistic_tree<Tree, Holding>::make_entry(std::string_view key, std::string_view value)
    -> unlinked_entry {
  auto held_key = Holding::make(key);
  auto held_value = Holding::make(value);
  if (!held_key || !held_value) return nullptr;
  return unlinked_entry(
      make_node<Holding, entry>(holder(std::move(held_key)), holder(std::move(held_value))));
}

template <class Tree, class Holding>
template <class Position>
bool optimistic_tree<Tree, Holding>::link(const scope& inside, const Position& at,
                                          std::string_view key, unlinked_entry& fresh) {
  if (!self().attach(inside, at, key, fresh.get())) return false;
  fresh.release();
  count_.add(1);
  return true;
}

template <class Tree, class Holding>
outcome optimistic_tree<Tree, Holding>::insert(std::string_view key, std::string_view value) {
  const scope inside;
  unlinked_entry fresh;
  for (;;) {
    const auto at = self().locate(inside, key);
    if (self().found(inside, at, key)) return outcome::unchanged;
    if (!fresh && !(fresh = make_entry(key, value))) return outcome::no_memory;
    if (link(inside, at, key, fresh)) return outcome::done;
  }
}

template <class Tree, class Holding>
outcome optimistic_tree<Tree, Holding>::upsert(std::string_view key, std::string_view value) {
  const scope inside;
  unlinked_entry fresh;
  typename Holding::fresh successor;
  for (;;) {
    const auto at = self().locate(inside, key);
    entry* const found = self().found(inside, at, key);
    if (!found) {
      if (!fresh && !(fresh = make_entry(key, value))) return outcome::no_memory;
      if (link(inside, at, key, fresh)) return outcome::done;
      continue;
    }
    if (!successor && !(successor = Holding::make_successor(found->value, value))) {
      return outcome::no_memory;
    }
    // The lock keeps the entry where it is; the node itself does not change.
    place_lock lock(self(), at);
    if (!lock.try_take()) continue;
    found->value.replace(inside, std::move(successor));
    return outcome::done;
  }
}

template <class Tree, class Holding>
bool optimistic_tree<Tree, Holding>::erase(std::string_view key) {
  const scope inside;
  for (;;) {
    const auto at = self().locate(inside, key);
    if (!self().found(inside, at, key)) return false;
    if (!self().try_lock(at)) continue;
    self().detach_and_retire(at, key);
    return true;
  }
}

/// Decides and allocates without a lock, then locks and checks that what was decided upon is still
/// so; a key that many write is soon decided under the lock instead.
template <class Tree, class Holding>
outcome optimistic_tree<Tree, Holding>::update(std::string_view key, const updater& decide) {
  const scope inside;
  for (unsigned tries = 0;; ++tries) {
    const auto at = self().locate(inside, key);
    entry* const found = self().found(inside, at, key);
    if (!found) {
      const decision chosen = decide(std::nullopt);
      if (chosen.what != action::write) return outcome::unchanged;
      unlinked_entry fresh = make_entry(key, chosen.value);
      if (!fresh) return outcome::no_memory;
      if (link(inside, at, key, fresh)) return outcome::done;
      continue;
    }
    place_lock lock(self(), at);
    if (tries >= kOptimisticTries && !lock.try_take()) continue;
    holder& held = found->value;
    const bytes* current = held.get(inside);
    const decision chosen = decide(current->view());
    if (chosen.what == action::keep) return outcome::unchanged;
    typename Holding::fresh successor;
    if (chosen.what == action::write) {
      successor = Holding::make_successor(held, chosen.value);
      if (!successor) return outcome::no_memory;
    }
    if (!lock.is_held() && !lock.try_take()) continue;
    if (!held.holds(current)) continue;
    if (chosen.what == action::erase) {
      lock.forget();
      self().detach_and_retire(at, key);
    } else {
      held.replace(inside, std::move(successor));
    }
    return outcome::done;
  }
}

}  // namespace isotherm::index
