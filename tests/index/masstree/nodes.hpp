// Nodes of masstree put together by hand, as splits and removals leave them.
#pragma once

#include <utility>

#include "index/masstree/layer.hpp"
#include "index/storage.hpp"

namespace isotherm::index::masstree_detail {

inline constexpr unmanaged kTestStorage{};
inline const node_memory kTestMemory(kTestStorage, nullptr);

/// Two border nodes, each alone under a lower interior node, under one top.
/// The rest goes with the second border node when it is removed: its parent had no other child.
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

  border* const first = kTestMemory.make_border(0, kSlots, {});
  border* const second = kTestMemory.make_border(0, kSlots, {});
  interior* const lower[2] = {kTestMemory.make_interior(0, {}), kTestMemory.make_interior(0, {})};
  interior* const top = kTestMemory.make_interior(version::kRoot, {});
};

/// The leftmost border node alone under one lower interior node, under the other `left` for slices
/// from 10 on and `right` for those from 30 on. Inside a scope: what was removed is retired.
struct siblings {
  siblings() {
    border* const row[] = {leftmost, left, right};
    for (int i = 0; i < 2; ++i) {
      row[i]->next.store_release(row[i + 1]);
      row[i + 1]->previous.store_release(row[i]);
    }
    lower[0]->children[0].store_release(leftmost);
    leftmost->parent.store_release(lower[0]);
    lower[1]->children[0].store_release(left);
    lower[1]->insert(0, 30, right);
    left->parent.store_release(lower[1]);
    right->parent.store_release(lower[1]);
    top->children[0].store_release(lower[0]);
    top->insert(0, 10, lower[1]);
    for (interior* each : lower) each->parent.store_release(top);
  }
  ~siblings() {
    for (border* each = leftmost; each != nullptr;) {
      kTestMemory.free(std::exchange(each, each->next.load_acquire()));
    }
    for (interior* each : lower) kTestMemory.free(each);
    kTestMemory.free(top);
  }
  siblings(const siblings&) = delete;
  siblings& operator=(const siblings&) = delete;

  border* const leftmost = kTestMemory.make_border(0, kSlots, {});
  border* const left = kTestMemory.make_border(0, kSlots, {});
  border* const right = kTestMemory.make_border(0, kSlots, {});
  interior* const lower[2] = {kTestMemory.make_interior(0, {}), kTestMemory.make_interior(0, {})};
  interior* const top = kTestMemory.make_interior(version::kRoot, {});
};

}  // namespace isotherm::index::masstree_detail
