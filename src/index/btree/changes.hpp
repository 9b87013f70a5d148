// The writes of tree.hpp, for sources that instantiate them.
#pragma once

#include "index/btree/tree.hpp"

namespace isotherm::index::btree_detail {

/// Locks a node and its parent if neither has changed since the path was taken.
template <class Storage, class Latch>
bool tree<Storage, Latch>::lock_both(const path& p) noexcept {
  if (!p.parent->latch.upgrade(p.parent_version)) return false;
  if (p.at->latch.upgrade(p.version)) return true;
  p.parent->latch.unlock_unchanged();
  return false;
}

/// Appends entries of one leaf to another that no other thread sees yet. Keys are read only if the
/// leaves skip different numbers of bytes; that does not count as a use of them.
template <class Storage, class Latch>
void tree<Storage, Latch>::append(access& inside, leaf* to, leaf* from, unsigned begin,
                                  unsigned end) {
  unsigned count = count_of(to);
  for (unsigned i = begin; i < end; ++i, ++count) {
    entry* const e = from->entries[i].load_relaxed();
    to->entries[count].store_release(e);
    to->starts[count].store_release(
        to->skip == from->skip
            ? from->starts[i].load_relaxed()
            : start_of(read(e->key, inside, reading::peek).value_or(""), to->skip));
  }
  to->count.store_release(static_cast<std::uint16_t>(count));
}

/// Appends separators begin .. end - 1 and the children behind them; to an empty node, also the
/// child before them.
template <class Storage, class Latch>
void tree<Storage, Latch>::append(inner* to, inner* from, unsigned begin, unsigned end) {
  unsigned count = count_of(to);
  if (count == 0) to->children[0].store_release(from->children[begin].load_relaxed());
  for (unsigned i = begin; i < end; ++i, ++count) {
    const separator* text = from->separators[i].load_relaxed();
    to->separators[count].store_release(text);
    to->starts[count].store_release(start_of(text->view(), to->skip));
    to->children[count + 1].store_release(from->children[i + 1].load_relaxed());
  }
  to->count.store_release(static_cast<std::uint16_t>(count));
}

/// Makes a separator. It need not be in fast memory, because it is read only where starts are
/// equal.
template <class Storage, class Latch>
const separator* tree<Storage, Latch>::make_separator(std::string_view text) {
  constexpr node_place kAnywhere{.level = ~0U};
  return ::new (storage_.allocate_node(sizeof(separator) + text.size(), kAnywhere)) separator(text);
}

// --- splitting ---------------------------------------------------------------------------------

/// Splits the topmost full node on the key's path, if it still is full. The caller searches again.
template <class Storage, class Latch>
void tree<Storage, Latch>::make_room(access& inside, std::string_view key) {
  path p;
  if (!enter(p)) return;
  while (count_of(p.at) < capacity_of(p.at)) {
    if (p.at->is_leaf || !step_down<true>(p, child_for(inner_of(p.at), key))) return;
  }
  // The parent was not full under the version by which it is locked now.
  if (!lock_both(p)) return;
  if (p.at->is_leaf) {
    split_leaf(inside, p, key);
  } else {
    split_inner(p);
  }
}

/// Splits in the middle or, for a new greatest key of the tree, at the end, so that keys that come
/// in order fill their leaves.
template <class Storage, class Latch>
void tree<Storage, Latch>::split_leaf(access& inside, const path& p, std::string_view key) {
  leaf* const full = leaf_of(p.at);
  const unsigned count = count_of(full);
  const auto text_at = [&](unsigned i) {
    // "" for a key that could not be had: the halves are not linked then.
    return read(full->entries[i].load_relaxed()->key, inside).value_or("");
  };
  const unsigned cut = !p.high && key > text_at(count - 1) ? count - 1 : count / 2;
  const std::string_view right_first = text_at(cut);
  const separator* between =
      make_separator(right_first.substr(0, common_prefix(text_at(cut - 1), right_first) + 1));
  const node_place here{.level = level_of_halves(p), .parent = p.parent};
  leaf* left = make_node<leaf>(storage_, here, skip_between(p.low, between));
  leaf* right = make_node<leaf>(storage_, here, skip_between(between, p.high));
  append(inside, left, full, 0, cut);
  append(inside, right, full, cut, count);
  if (Storage::has_lost(inside)) {  // the leaf stays full, and the writer's access tells why
    free_memory(left);
    free_memory(right);
    free_memory(const_cast<separator*>(between));
    p.at->latch.unlock_unchanged();
    p.parent->latch.unlock_unchanged();
    return;
  }
  if constexpr (Storage::kPlaced) {
    link_copied_halves(p, left, between, right);
  } else {
    replace_by_two(p, left, between, right);
  }
}

/// Splits in the middle; the middle separator goes up.
template <class Storage, class Latch>
void tree<Storage, Latch>::split_inner(const path& p) {
  inner* const full = inner_of(p.at);
  const unsigned count = count_of(full), middle = count / 2;
  const separator* between = full->separators[middle].load_relaxed();
  const node_place here{
      .level = level_of_halves(p), .parent = p.parent, .is_inner = true, .covers = {full}};
  inner* left = make_node<inner>(storage_, here, skip_between(p.low, between));
  inner* right = make_node<inner>(storage_, here, skip_between(between, p.high));
  append(left, full, 0, middle);
  append(right, full, middle + 1, count);
  replace_by_two(p, left, between, right);
}

/// Links the halves of a node where it was, and unlocks it and its parent.
template <class Storage, class Latch>
void tree<Storage, Latch>::replace_by_two(const path& p, node* left, const separator* between,
                                          node* right) {
  inner* into = p.parent;
  const bool is_root = p.parent == &anchor_;
  if (is_root) into = make_node<inner>(storage_, {.is_inner = true, .covers = {left, right}}, 0U);
  const unsigned count = count_of(into);
  open_gap(into->starts, p.index, count);
  open_gap(into->separators, p.index, count);
  open_gap(into->children, p.index + 1, count + 1);
  into->starts[p.index].store_release(start_of(between->view(), into->skip));
  into->separators[p.index].store_release(between);
  into->children[p.index].store_release(left);
  into->children[p.index + 1].store_release(right);
  into->count.store_release(static_cast<std::uint16_t>(count + 1));
  if (is_root) anchor_.children[0].store_release(into);
  p.at->latch.unlock_obsolete();
  p.parent->latch.unlock_changed();
  retire_memory(p.at);
}

// --- merging -----------------------------------------------------------------------------------

/// Merges nearly empty nodes on the path of an erased key until none is left that can be merged.
template <class Storage, class Latch>
void tree<Storage, Latch>::tidy(access& inside, std::string_view key) {
  for (backoff wait; tidy_one(inside, key);) wait();
}

/// Merges at most two nodes. True: merged some, or something has changed; look again.
template <class Storage, class Latch>
bool tree<Storage, Latch>::tidy_one(access& inside, std::string_view key) {
  path p;
  if (!enter(p)) return true;
  for (;;) {
    const unsigned count = count_of(p.at);
    const bool is_root = p.parent == &anchor_;
    if (is_root && !p.at->is_leaf && count == 0) return shorten(p);
    if (!is_root && count < capacity_of(p.at) / kUnderfull && merge(inside, p)) return true;
    if (p.at->is_leaf) return !p.at->latch.is_still(p.version);
    if (!step_down<true>(p, child_for(inner_of(p.at), key))) return true;
  }
}

/// Removes a root that has one child. Returns true, so that the caller looks again.
template <class Storage, class Latch>
bool tree<Storage, Latch>::shorten(const path& p) {
  if (!lock_both(p)) return true;
  anchor_.children[0].store_release(inner_of(p.at)->children[0].load_relaxed());
  p.at->latch.unlock_obsolete();
  anchor_.latch.unlock_changed();
  retire_memory(p.at);
  return true;
}

/// Merges a node and a neighbour if they fit into one node and leave room there. True: done, or
/// something has changed; false: the node must stay.
template <class Storage, class Latch>
bool tree<Storage, Latch>::merge(access& inside, const path& p) {
  const unsigned siblings = count_of(p.parent);
  if (siblings == 0) return !p.parent->latch.is_still(p.parent_version);
  const unsigned left_index = p.index < siblings ? p.index : p.index - 1;
  const unsigned other_index = p.index < siblings ? p.index + 1 : left_index;
  node* const other = p.parent->children[other_index].load_acquire();
  const unsigned capacity = capacity_of(p.at);
  const auto fits = [&] {
    const unsigned mine = count_of(p.at), sum = mine + count_of(other) + (p.at->is_leaf ? 0 : 1);
    return sum <= (mine == 0 ? capacity : capacity - capacity / kUnderfull);
  };
  if (!fits()) return !p.parent->latch.is_still(p.parent_version);
  if (!lock_both(p)) return true;
  // Waits only for threads that work at `other` or below it, and these never wait for this thread.
  // Nor can `other` be obsolete: making it so takes the parent's lock, which this thread holds.
  other->latch.lock();
  const auto leave_unchanged = [&] {
    other->latch.unlock_unchanged();
    p.at->latch.unlock_unchanged();
    p.parent->latch.unlock_unchanged();
    return false;
  };
  if (!fits()) return leave_unchanged();
  node* const left = p.index == left_index ? p.at : other;
  node* const right = p.index == left_index ? other : p.at;
  inner* const parent = p.parent;
  const separator* between = parent->separators[left_index].load_relaxed();
  const separator* low =
      left_index > 0 ? parent->separators[left_index - 1].load_relaxed() : p.parent_low;
  const separator* high =
      left_index + 1 < siblings ? parent->separators[left_index + 1].load_relaxed() : p.parent_high;
  node* const both = joined(inside, p, low, high, left, between, right);
  if (Storage::has_lost(inside)) {
    free_memory(both);
    return leave_unchanged();
  }
  parent->children[left_index].store_release(both);
  close_gap(parent->starts, left_index, siblings);
  close_gap(parent->separators, left_index, siblings);
  close_gap(parent->children, left_index + 1, siblings + 1);
  parent->count.store_release(static_cast<std::uint16_t>(siblings - 1));
  left->latch.unlock_obsolete();
  right->latch.unlock_obsolete();
  parent->latch.unlock_changed();
  if (left->is_leaf) retire_memory(between);
  retire_memory(left);
  retire_memory(right);
  return true;
}

/// Makes a new node with the contents of two neighbours.
template <class Storage, class Latch>
auto tree<Storage, Latch>::joined(access& inside, const path& p, const separator* low,
                                  const separator* high, node* left, const separator* between,
                                  node* right) -> node* {
  const std::size_t skip = skip_between(low, high);
  const node_place here{
      .level = p.level, .parent = p.parent, .is_inner = !left->is_leaf, .covers = {left, right}};
  if (left->is_leaf) {
    leaf* both = make_node<leaf>(storage_, here, skip);
    append(inside, both, leaf_of(left), 0, count_of(left));
    append(inside, both, leaf_of(right), 0, count_of(right));
    return both;
  }
  inner* both = make_node<inner>(storage_, here, skip);
  append(both, inner_of(left), 0, count_of(left));
  const unsigned count = count_of(both);
  both->separators[count].store_release(between);
  both->starts[count].store_release(start_of(between->view(), skip));
  both->children[count + 1].store_release(inner_of(right)->children[0].load_relaxed());
  both->count.store_release(static_cast<std::uint16_t>(count + 1));
  append(both, inner_of(right), 0, count_of(right));
  return both;
}

// --- all at once -------------------------------------------------------------------------------

/// Appends the children, entries and separators of a node that is no longer in use.
template <class Storage, class Latch>
void tree<Storage, Latch>::take_apart(node* n, std::vector<node*>& children,
                                      std::vector<entry*>& entries,
                                      std::vector<const separator*>& separators) {
  const unsigned count = count_of(n);
  if (n->is_leaf) {
    for (unsigned i = 0; i < count; ++i) entries.push_back(leaf_of(n)->entries[i].load_acquire());
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    separators.push_back(inner_of(n)->separators[i].load_acquire());
  }
  for (unsigned i = 0; i <= count; ++i) {
    children.push_back(inner_of(n)->children[i].load_acquire());
  }
}

/// Cuts the tree off at the root, and returns the old root for retire_cut(), which must be called
/// in the same scope.
template <class Storage, class Latch>
auto tree<Storage, Latch>::cut() noexcept -> node* {
  node* created = make_node<leaf>(storage_, {}, std::size_t{0});
  anchor_.latch.lock();
  node* const root = anchor_.children[0].load_relaxed();
  anchor_.children[0].store_release(created);
  anchor_.latch.unlock_changed();
  return root;
}

/// Marks all nodes that were cut off as obsolete, so that writers there start again from the root,
/// and retires them. Returns the number of their keys.
template <class Storage, class Latch>
std::int64_t tree<Storage, Latch>::retire_cut(node* root) noexcept {
  std::vector<node*> cut{root};
  std::vector<entry*> entries;
  std::vector<const separator*> separators;
  while (!cut.empty()) {
    node* const n = cut.back();
    cut.pop_back();
    n->latch.lock();
    take_apart(n, cut, entries, separators);
    n->latch.unlock_obsolete();
    retire_memory(n);
  }
  for (entry* e : entries) retire_node<Storage>(e);
  for (const separator* text : separators) retire_memory(text);
  return static_cast<std::int64_t>(entries.size());
}

template <class Storage, class Latch>
tree<Storage, Latch>::~tree() {
  std::vector<node*> rest{anchor_.children[0].load_acquire()};
  std::vector<entry*> entries;
  std::vector<const separator*> separators;
  while (!rest.empty()) {
    node* const n = rest.back();
    rest.pop_back();
    take_apart(n, rest, entries, separators);
    free_memory(n);
    for (entry* e : entries) destroy_node<Storage>(e);
    entries.clear();
  }
  for (const separator* text : separators) {
    free_memory(const_cast<void*>(static_cast<const void*>(text)));
  }
}

/// Links `created` where the search for its key ended; false: there was no room, or something has
/// changed; search again.
template <class Storage, class Latch>
bool tree<Storage, Latch>::attach(access& inside, const position& at, std::string_view key,
                                  entry* created) {
  leaf* const n = at.at;
  const unsigned count = count_of(n);
  if (count == leaf::kCapacity) {
    make_room(inside, key);
    return false;
  }
  if (!n->latch.upgrade(at.version)) return false;
  open_gap(n->starts, at.where.at, count);
  open_gap(n->entries, at.where.at, count);
  n->starts[at.where.at].store_release(start_of(key, n->skip));
  n->entries[at.where.at].store_release(created);
  n->count.store_release(static_cast<std::uint16_t>(count + 1));
  n->latch.unlock_changed();
  return true;
}

/// Unlinks and retires the entry at a position whose leaf this thread has locked, and unlocks the
/// leaf.
template <class Storage, class Latch>
void tree<Storage, Latch>::detach(access& inside, const position& at, std::string_view key) {
  leaf* const n = at.at;
  const unsigned count = count_of(n);
  close_gap(n->starts, at.where.at, count);
  close_gap(n->entries, at.where.at, count);
  n->count.store_release(static_cast<std::uint16_t>(count - 1));
  n->latch.unlock_changed();
  retire_node<Storage>(at.found);
  if (count - 1 < leaf::kCapacity / kUnderfull) tidy(inside, key);
}

}  // namespace isotherm::index::btree_detail
