// The B+tree's part of placement (placement/placed_tree.hpp): a node that is relocated is replaced,
// like one that splits. For sources that instantiate it.
#pragma once

#include "index/btree/tree.hpp"

namespace isotherm::index::btree_detail {

/// Goes down to the leaf of `key`, and notes the nodes on the way. False: something has changed.
template <class Storage, class Latch>
bool tree<Storage, Latch>::try_path(std::string_view key, std::vector<void*>& nodes, path& p) {
  nodes.clear();
  if (!enter(p)) return false;
  nodes.push_back(p.at);
  while (!p.at->is_leaf) {
    if (!step_down<true>(p, child_for(inner_of(p.at), key))) return false;
    nodes.push_back(p.at);
  }
  return p.at->latch.is_still(p.version);
}

template <class Storage, class Latch>
bool tree<Storage, Latch>::visit_leaves(const scope&, std::string& cursor,
                                        const placement::leaf_visitor& visit) {
  std::vector<void*> nodes;
  for (bool goes_on = true; goes_on;) {
    path p;
    for (backoff wait; !try_path(cursor, nodes, p);) wait();
    leaf* const n = leaf_of(p.at);
    goes_on = visit({nodes, n->uses, sizeof(leaf) + count_of(n) * sizeof(entry)});
    if (!p.high) return false;
    cursor = p.high->view();
  }
  return true;
}

/// Copies a leaf with its entries, and guides in them, which the caller makes known when the copy
/// is linked.
template <class Storage, class Latch>
auto tree<Storage, Latch>::copy_of(leaf* n, placement::tier to) -> leaf* {
  leaf* const made = ::new (placement::allocate_node(to, sizeof(leaf))) leaf(n->skip);
  const unsigned count = count_of(n);
  for (unsigned i = 0; i < count; ++i) {
    entry* const from = n->entries[i].load_relaxed();
    made->starts[i].store_release(n->starts[i].load_relaxed());
    made->entries[i].store_release(::new (placement::allocate_node(to, sizeof(entry)))
                                       entry(relocation{}, *from));
  }
  made->count.store_release(static_cast<std::uint16_t>(count));
  made->uses.set(n->uses.value());
  return made;
}

template <class Storage, class Latch>
auto tree<Storage, Latch>::copy_of(inner* n, placement::tier to) -> inner* {
  inner* const made = ::new (placement::allocate_node(to, sizeof(inner))) inner(n->skip);
  append(made, n, 0, count_of(n));
  return made;
}

template <class Storage, class Latch>
placement::relocated tree<Storage, Latch>::relocate(const scope&, std::span<void* const> nodes,
                                                    placement::tier to) {
  inner* const above =
      nodes.size() > 1 ? inner_of(static_cast<node*>(nodes[nodes.size() - 2])) : &anchor_;
  node* const n = static_cast<node*>(nodes.back());
  if (!above->latch.lock()) return {};
  const auto refuse = [above](placement::relocation_result why) {
    above->latch.unlock_unchanged();
    return placement::relocated{why};
  };
  unsigned index = 0;
  while (index <= count_of(above) && above->children[index].load_relaxed() != n) ++index;
  if (index > count_of(above)) return refuse(placement::relocation_result::changed);
  if (to == placement::tier::fast && placement::is_slow(above)) {
    return refuse(placement::relocation_result::parent_is_slow);
  }
  // Waits only for threads that work at `n` or below it, and these never wait for this thread. Nor
  // can it be obsolete: its parent leads to it.
  n->latch.lock();
  if (to == placement::tier::slow && !n->is_leaf && covers_fast(n)) {
    n->latch.unlock_unchanged();
    return refuse(placement::relocation_result::covers_fast_node);
  }
  if (!n->is_leaf) {
    inner* const made = copy_of(inner_of(n), to);
    above->children[index].store_release(made);
    n->latch.unlock_obsolete();
    above->latch.unlock_changed();
    placement::retire_node(n);
    return {placement::relocation_result::done, made};
  }
  leaf *const made = copy_of(leaf_of(n), to), *const old = leaf_of(n);
  above->children[index].store_release(made);
  // Writers come to the copy when its parent is unlocked.
  finish_relocation(old, 0, made);
  old->latch.unlock_obsolete();
  above->latch.unlock_changed();
  placement::retire_node(old);
  return {placement::relocation_result::done, made};
}

/// Links the halves of a leaf, which may be slow although its entries are fast.
template <class Storage, class Latch>
void tree<Storage, Latch>::link_copied_halves(const path& p, leaf* left, const separator* between,
                                              leaf* right) {
  leaf* const full = leaf_of(p.at);
  for (leaf* half : {left, right}) {
    copy_fast_entries(half);
    half->latch.lock();  // until its guides are known no thread writes or relocates it
  }
  const unsigned cut = count_of(left);
  replace_by_two(p, left, between, right);
  finish_relocation(full, 0, left);
  finish_relocation(full, cut, right);
  for (leaf* half : {left, right}) half->latch.unlock_unchanged();
}

/// Replaces the fast entries of a slow leaf that no other thread sees yet by slow copies.
template <class Storage, class Latch>
void tree<Storage, Latch>::copy_fast_entries(leaf* made) {
  if (!placement::is_slow(made)) return;
  for (unsigned i = 0; i < count_of(made); ++i) {
    entry* const from = made->entries[i].load_relaxed();
    if (!placement::is_fast(from)) continue;
    made->entries[i].store_release(::new (
        placement::allocate_node(placement::tier::slow, sizeof(entry))) entry(relocation{}, *from));
  }
}

/// Makes the guides of copied entries known, and retires the entries that were copied, whose guides
/// own nothing any more. Requires: `made`, which begins with entry `begin` of `old`, is linked in
/// its place.
template <class Storage, class Latch>
void tree<Storage, Latch>::finish_relocation(leaf* old, unsigned begin, leaf* made) {
  for (unsigned i = 0; i < count_of(made); ++i) {
    entry *const from = old->entries[begin + i].load_relaxed(), *const to =
                                                                    made->entries[i].load_relaxed();
    if (from == to) continue;
    to->finish_relocation();
    placement::retire_node(from);
  }
}

}  // namespace isotherm::index::btree_detail
