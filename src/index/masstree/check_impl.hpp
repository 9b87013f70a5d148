// masstree: the invariants of the whole tree (masstree.hpp).
#pragma once

#include "index/masstree/check.hpp"
#include "index/masstree/masstree.hpp"

namespace isotherm::index {

/// Every layer's own invariants; each leaf's key is what the path to it says; no layer but the
/// first is empty.
template <class Holding>
bool masstree<Holding>::is_valid() {
  struct layer {
    base::atomic<link>* where;
    std::string path;
  };
  const scope inside;
  std::size_t leaves = 0;
  std::vector<layer> rest;
  rest.push_back({&top_, std::string()});
  while (!rest.empty()) {
    const layer here = std::move(rest.back());
    rest.pop_back();
    masstree_detail::version seen;
    std::vector<border*> borders;
    auto* const top = masstree_detail::node_of(here.where->load_acquire());
    const std::size_t leaves_before = leaves, layers_before = rest.size();
    if (!masstree_detail::is_valid_layer(masstree_detail::climb(*here.where, top, seen), borders)) {
      return false;
    }
    for (border* const at : borders) {
      const masstree_detail::permutation order = at->order();
      for (unsigned place = 0; place < order.count(); ++place) {
        const wanted what = at->entry(order[place]);
        const link target = at->link_at(order[place]).load_acquire();
        if (!masstree_detail::is_leaf(target)) {
          const std::uint64_t slice = std::byteswap(what.slice);
          std::string path = here.path;
          path.append(reinterpret_cast<const char*>(&slice), sizeof slice);
          rest.push_back({&at->link_at(order[place]), std::move(path)});
          continue;
        }
        ++leaves;
        const std::string_view key = leaf_of(target)->key.get(inside)->view();
        if (!key.starts_with(here.path) || wanted(key, here.path.size()) != what) return false;
        if (leaf_of(target)->value.is_null()) return false;
      }
    }
    if (here.where != &top_ && leaves == leaves_before && rest.size() == layers_before) {
      return false;
    }
  }
  return leaves == this->size();
}

}  // namespace isotherm::index
