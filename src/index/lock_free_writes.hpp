// The writing operations of structures without locks (hash-harris, skiplist-fraser). A key is
// erased when its node's value becomes null, so that all operations on one key synchronise on one
// word, the value's pointer. The node is unlinked after that, by the eraser or by another thread
// that meets it.
#pragma once

#include <string_view>
#include <utility>

#include "index/common.hpp"
#include "index/index.hpp"
#include "index/storage.hpp"

namespace isotherm::index {

/// Base of a `Map`, which offers it:
///   locate(inside, key)            a position: where the search ended
///   found(at)                      the key's node there, whose value may be null, or null
///   make(at, key, value)           a node for that place; null when memory is exhausted
///   attach(inside, at, key, node)  links the node where the search ended, and owns it then;
///                                  false: search again
///   remove(inside, at, key)        unlinks the node found, whose value this thread has emptied
///   help(inside, at, key)          helps to unlink the node found, emptied by another thread
template <class Map, class Storage, class Node>
class lock_free_writes {
 public:
  bool contains(access& inside, std::string_view key) {
    auto at = self().locate(inside, key);
    const Node* const n = self().found(at);
    return n && !n->value.is_null();
  }
  outcome insert(access& inside, std::string_view key, const content& value);
  outcome upsert(access& inside, std::string_view key, const content& value);
  bool erase(access& inside, std::string_view key);
  outcome update(access& inside, std::string_view key, const updater& decide);
  std::size_t size() const noexcept { return count_.sum(); }

 protected:
  using unlinked_node = unlinked<Storage, Node>;

  explicit lock_free_writes(const Storage& storage) noexcept : storage_(storage) {}

  [[no_unique_address]] const Storage storage_;
  base::sharded_counter count_;  // number of keys

 private:
  Map& self() noexcept { return static_cast<Map&>(*this); }
  template <class Position>
  bool link(access& inside, Position& at, std::string_view key, unlinked_node& created) {
    if (!self().attach(inside, at, key, created.get())) return false;
    created.release();
    return true;
  }
  /// To be called after this thread has erased the key by emptying the value of the node found.
  template <class Position>
  void after_erase(access& inside, Position& at, std::string_view key) {
    count_.add(-1);
    self().remove(inside, at, key);
  }
};

template <class Map, class Storage, class Node>
outcome lock_free_writes<Map, Storage, Node>::insert(access& inside, std::string_view key,
                                                     const content& value) {
  unlinked_node created;
  for (;;) {
    auto at = self().locate(inside, key);
    if (Node* n = self().found(at)) {
      if (!n->value.is_null()) return outcome::unchanged;
      self().help(inside, at, key);
      continue;
    }
    if (Storage::has_lost(inside))
      return outcome::incomplete;  // where the key belongs is not known
    if (!created && !(created = self().make(at, key, value))) return outcome::no_memory;
    if (link(inside, at, key, created)) return outcome::done;
  }
}

template <class Map, class Storage, class Node>
outcome lock_free_writes<Map, Storage, Node>::upsert(access& inside, std::string_view key,
                                                     const content& value) {
  unlinked_node created;
  typename Storage::owned_bytes successor;
  for (;;) {
    auto at = self().locate(inside, key);
    Node* const n = self().found(at);
    if (!n) {
      if (Storage::has_lost(inside)) return outcome::incomplete;
      if (!created && !(created = self().make(at, key, value))) return outcome::no_memory;
      if (link(inside, at, key, created)) return outcome::done;
      continue;
    }
    if (!successor && !(successor = storage_.make_successor(n->value, value))) {
      return outcome::no_memory;
    }
    const bytes* current = n->value.address();  // it is not read
    while (current && !n->value.compare_replace(inside, current, successor)) {
      current = n->value.address();
    }
    if (current) return outcome::done;
    self().help(inside, at, key);
  }
}

template <class Map, class Storage, class Node>
bool lock_free_writes<Map, Storage, Node>::erase(access& inside, std::string_view key) {
  auto at = self().locate(inside, key);
  Node* const n = self().found(at);
  // After a search that could not read a key, what links to the node is not known for sure.
  if (!n || Storage::has_lost(inside) || !n->value.clear(inside)) return false;
  after_erase(inside, at, key);
  return true;
}

template <class Map, class Storage, class Node>
outcome lock_free_writes<Map, Storage, Node>::update(access& inside, std::string_view key,
                                                     const updater& decide) {
  for (;;) {
    auto at = self().locate(inside, key);
    Node* const n = self().found(at);
    const bytes* current = n ? n->value.get(inside) : nullptr;
    if (Storage::has_lost(inside)) return outcome::incomplete;
    if (n && !current) {
      self().help(inside, at, key);
      continue;
    }
    const decision chosen = n ? decide(current->view()) : decide(std::nullopt);
    if (chosen.act == action::keep || (!n && chosen.act == action::erase)) {
      return outcome::unchanged;
    }
    if (!n) {
      unlinked_node created = self().make(at, key, chosen.value);
      if (!created) return outcome::no_memory;
      if (link(inside, at, key, created)) return outcome::done;
    } else if (chosen.act == action::erase) {
      if (!n->value.compare_clear(inside, current)) continue;
      after_erase(inside, at, key);
      return outcome::done;
    } else {
      auto successor = storage_.make_successor(n->value, chosen.value);
      if (!successor) return outcome::no_memory;
      if (n->value.compare_replace(inside, current, successor)) return outcome::done;
    }
  }
}

}  // namespace isotherm::index
