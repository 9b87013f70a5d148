// Parts that all structures share: waiting, counting, making and retiring nodes.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "base/atomic.hpp"
#include "base/sharded_counter.hpp"
#include "base/spin_lock.hpp"
#include "guide/object.hpp"
#include "index/content.hpp"
#include "placement/tier.hpp"
#include "sync/retire.hpp"
#include "sync/scope.hpp"

namespace isotherm::index {

using base::backoff;

/// Makes a `Node` in the storage's node memory for that place (storage.hpp).
template <class Node, class Storage, class... Arguments>
Node* make_node(const Storage& storage, const placement::node_place& place,
                Arguments&&... arguments) {
  return ::new (storage.allocate_node(sizeof(Node), place))
      Node(std::forward<Arguments>(arguments)...);
}

/// Destroys a node that no other thread can reach, with the objects that it holds.
template <class Storage, class Node>
void destroy_node(Node* node) noexcept {
  std::destroy_at(node);
  Storage::deallocate_node(node);
}

/// Destroys an unlinked node when every scope that may have seen it has closed.
template <class Storage, class Node>
void retire_node(Node* node) {
  sync::retire(node, [](void* p) noexcept { destroy_node<Storage>(static_cast<Node*>(p)); });
}

/// Owns a node until it is linked.
template <class Storage, class Node>
struct node_deleter {
  void operator()(Node* node) const noexcept { destroy_node<Storage>(node); }
};
template <class Storage, class Node>
using unlinked = std::unique_ptr<Node, node_deleter<Storage, Node>>;

/// Makes a `Node` of `arguments` and two new objects; null when memory is exhausted.
template <class Node, class Storage, class... Arguments>
unlinked<Storage, Node> make_entry(const Storage& storage, const placement::node_place& place,
                                   std::string_view key, const content& value,
                                   Arguments... arguments) {
  auto held_key = storage.make(key);
  auto held_value = storage.make(value);
  if (!held_key || !held_value) return nullptr;
  return unlinked<Storage, Node>(
      make_node<Node>(storage, place, arguments..., std::move(held_key), std::move(held_value)));
}

inline void prefetch(const void* address) noexcept { __builtin_prefetch(address); }
/// Prefetches size and begin of a byte string, which one in four has in two cache lines.
inline void prefetch(const bytes* object) noexcept {
  // Computed as a number: null, of a value that is being erased, has no address before it.
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(object) - 1));
  __builtin_prefetch(object);
}

}  // namespace isotherm::index
