// Nodes of masstree put together by hand: two border nodes, each alone under a lower interior node,
// under one top.
#pragma once

#include "index/holding.hpp"
#include "index/masstree/layer.hpp"

namespace isotherm::index::masstree_detail {

inline constexpr node_memory kTestMemory{&unmanaged::allocate_node, &unmanaged::deallocate_node};

/// What is left when the second border node has been removed goes with it: its parent had no other
/// child.
struct two_lonely_nodes {
  two_lonely_nodes() {
    first->next.store_release(second);
    second->previous.store_release(first);
    lower[0]->children[0].store_release(first);
    lower[1]->children[0].store_release(second);
    first->parent.store_release(lower[0]);
    second->parent.store_release(lower[1]);
    top->children[0].store_release(lower[0]);
    top->insert(0, 9, lower[1]);
    for (interior* each : lower) each->parent.store_release(top);
  }
  ~two_lonely_nodes() {
    kTestMemory.free(first);
    kTestMemory.free(lower[0]);
    kTestMemory.free(top);
  }
  two_lonely_nodes(const two_lonely_nodes&) = delete;
  two_lonely_nodes& operator=(const two_lonely_nodes&) = delete;

  border* const first = kTestMemory.make_border(0, kSlots);
  border* const second = kTestMemory.make_border(0, kSlots);
  interior* const lower[2] = {kTestMemory.make_interior(0), kTestMemory.make_interior(0)};
  interior* const top = kTestMemory.make_interior(version::kRoot);
};

}  // namespace isotherm::index::masstree_detail
