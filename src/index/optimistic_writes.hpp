// The writing operations of structures whose searches take no lock, or share one, and whose writers
// lock the place that they found. A writer searches, decides and allocates without that lock; then
// it locks the place if it is still as the search saw it, or else searches again. The structure
// defines what a place is, how it shows changes, and what must be locked to link or unlink.
#pragma once

#include <string_view>
#include <utility>

#include "index/common.hpp"
#include "index/index.hpp"
#include "index/storage.hpp"

namespace isotherm::index {

/// A key and a value of a tree. The tree's nodes link to it, because its guides must not move.
template <class Storage>
struct tree_entry {
  using owned_bytes = typename Storage::owned_bytes;
  tree_entry(owned_bytes&& k, owned_bytes&& v) noexcept : key(std::move(k)), value(std::move(v)) {}
  /// A copy that takes the place of `from`: see guide's constructor for relocation.
  tree_entry(relocation how, tree_entry& from) noexcept
      : key(how, from.key), value(how, from.value) {}
  void finish_relocation() noexcept {
    key.finish_relocation();
    value.finish_relocation();
  }
  typename Storage::pointer key, value;
};

/// Base of a `Map`, which offers it:
///   locate(inside, key)            searches without a lock; the position where the search ended
///   found(inside, at, key)         the key's entry there, or null
///   try_lock(inside, at, key)      locks the entry found; false: it may not be there any more
///   unlock(at)                     unlocks it, when nothing but its value has changed
///   make(at, key, value)           an entry for that place; null when memory is exhausted
///   attach(inside, at, key, entry) links the entry where the search ended, and owns it then;
///                                  false: search again
///   detach(inside, at, key)        unlinks and retires the locked entry, and unlocks
/// An `Entry` has a key and a value.
template <class Map, class Storage, class Entry = tree_entry<Storage>>
class optimistic_writes {
 public:
  bool contains(access& inside, std::string_view key) {
    auto at = self().locate(inside, key);
    return self().found(inside, at, key) != nullptr;
  }
  outcome insert(access& inside, std::string_view key, const content& value);
  outcome upsert(access& inside, std::string_view key, const content& value);
  bool erase(access& inside, std::string_view key);
  outcome update(access& inside, std::string_view key, const updater& decide);
  std::size_t size() const noexcept { return count_.sum(); }

 protected:
  using entry = Entry;
  using unlinked_entry = unlinked<Storage, Entry>;

  explicit optimistic_writes(const Storage& storage) noexcept : storage_(storage) {}

  /// Replaced by a `Map` that acts after some inserts. `n` is what count_.add() has returned.
  void after_insert(std::int64_t /*n*/) noexcept {}

  [[no_unique_address]] const Storage storage_;
  base::sharded_counter count_;  // number of keys

 private:
  static constexpr unsigned kOptimisticTries = 4;

  /// Holds the lock of a place until the end of its block, also when the caller's updater throws.
  template <class Position>
  class place_lock {
   public:
    place_lock(Map& map, Position& at) noexcept : map_(map), at_(at) {}
    ~place_lock() {
      if (is_held_) map_.unlock(at_);
    }
    place_lock(const place_lock&) = delete;
    place_lock& operator=(const place_lock&) = delete;
    bool try_take(access& inside, std::string_view key) {
      return is_held_ = map_.try_lock(inside, at_, key);
    }
    bool is_held() const noexcept { return is_held_; }
    void forget() noexcept { is_held_ = false; }  // detach() unlocks

   private:
    Map& map_;
    Position& at_;
    bool is_held_ = false;
  };

  Map& self() noexcept { return static_cast<Map&>(*this); }
  template <class Position>
  bool link(access& inside, Position& at, std::string_view key, unlinked_entry& created) {
    if constexpr (Storage::kPlaced) {
      // It was made for a place under a fast node; the search now ended under a slow one.
      if (placement::is_fast(created.get()) && placement::is_slow(at.at)) {
        created.reset();
        return false;
      }
    }
    if (!self().attach(inside, at, key, created.get())) return false;
    created.release();
    self().after_insert(count_.add(1));
    return true;
  }
  template <class Position>
  void unlink(access& inside, Position& at, std::string_view key) {
    count_.add(-1);
    self().detach(inside, at, key);
  }
};

template <class Map, class Storage, class Entry>
outcome optimistic_writes<Map, Storage, Entry>::insert(access& inside, std::string_view key,
                                                       const content& value) {
  unlinked_entry created;
  for (;;) {
    auto at = self().locate(inside, key);
    if (self().found(inside, at, key)) return outcome::unchanged;
    if (Storage::has_lost(inside))
      return outcome::incomplete;  // where the key belongs is not known
    if (!created && !(created = self().make(at, key, value))) return outcome::no_memory;
    if (link(inside, at, key, created)) return outcome::done;
  }
}

template <class Map, class Storage, class Entry>
outcome optimistic_writes<Map, Storage, Entry>::upsert(access& inside, std::string_view key,
                                                       const content& value) {
  unlinked_entry created;
  typename Storage::owned_bytes successor;
  for (;;) {
    auto at = self().locate(inside, key);
    Entry* const found = self().found(inside, at, key);
    if (!found) {
      if (Storage::has_lost(inside)) return outcome::incomplete;
      if (!created && !(created = self().make(at, key, value))) return outcome::no_memory;
      if (link(inside, at, key, created)) return outcome::done;
      continue;
    }
    if (!successor && !(successor = storage_.make_successor(found->value, value))) {
      return outcome::no_memory;
    }
    // The lock keeps the entry where it is; the node itself does not change.
    place_lock lock(self(), at);
    if (!lock.try_take(inside, key)) continue;
    return found->value.replace(inside, std::move(successor)) ? outcome::done : outcome::no_memory;
  }
}

template <class Map, class Storage, class Entry>
bool optimistic_writes<Map, Storage, Entry>::erase(access& inside, std::string_view key) {
  for (;;) {
    auto at = self().locate(inside, key);
    // After a search that could not read a key, what links to the entry is not known for sure.
    if (!self().found(inside, at, key) || Storage::has_lost(inside)) return false;
    if (!self().try_lock(inside, at, key)) continue;
    unlink(inside, at, key);
    return true;
  }
}

/// Decides and allocates without a lock, then locks and checks that the value is still the one
/// decided upon. After some failures, as happen with a key that many threads write, it decides
/// under the lock.
template <class Map, class Storage, class Entry>
outcome optimistic_writes<Map, Storage, Entry>::update(access& inside, std::string_view key,
                                                       const updater& decide) {
  for (unsigned tries = 0;; ++tries) {
    auto at = self().locate(inside, key);
    Entry* const found = self().found(inside, at, key);
    if (Storage::has_lost(inside)) return outcome::incomplete;
    if (!found) {
      const decision chosen = decide(std::nullopt);
      if (chosen.act != action::write) return outcome::unchanged;
      unlinked_entry created = self().make(at, key, chosen.value);
      if (!created) return outcome::no_memory;
      if (link(inside, at, key, created)) return outcome::done;
      continue;
    }
    place_lock lock(self(), at);
    if (tries >= kOptimisticTries && !lock.try_take(inside, key)) continue;
    auto& held = found->value;
    const bytes* current = held.get(inside);
    if (Storage::has_lost(inside)) return outcome::incomplete;
    const decision chosen = decide(current->view());
    if (chosen.act == action::keep) return outcome::unchanged;
    typename Storage::owned_bytes successor;
    if (chosen.act == action::write) successor = storage_.make_successor(held, chosen.value);
    if (!lock.is_held() && !lock.try_take(inside, key)) continue;
    if (!held.holds(current)) continue;
    if (chosen.act == action::erase) {
      lock.forget();
      unlink(inside, at, key);
      return outcome::done;
    }
    return held.replace(inside, std::move(successor)) ? outcome::done : outcome::no_memory;
  }
}

}  // namespace isotherm::index
