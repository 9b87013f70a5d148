// The writes of art.hpp, for sources that instantiate them.
#pragma once

#include "index/art/art.hpp"

namespace isotherm::index {

// --- adding ------------------------------------------------------------------------------------

/// Links `target` into `n`, which has room for it. Its key agrees with the path of `n` up to
/// `depth`.
template <class Storage>
void art<Storage>::put(node* n, std::string_view key, std::size_t depth, link target) noexcept {
  if (depth == key.size()) {
    n->terminal.store_release(target);
  } else {
    art_detail::add_child(n, art_detail::byte_at(key, depth), target);
  }
}

/// Links the leaf where the search for its key ended; false: something has changed, search again.
template <class Storage>
bool art<Storage>::attach(access& inside, const position& at, std::string_view key, entry* leaf) {
  const link created = link_to(leaf);
  if (at.how == ending::mismatch) return split_prefix(at, key, created);
  if (at.how == ending::occupied) return expand_leaf(inside, at, key, created);
  const bool is_terminal = at.after_prefix() == key.size();
  const bool may_grow = at.at->kind != node_kind::n256;
  if (!is_terminal && may_grow && art_detail::is_full(at.at)) return grow(at, key);
  if (!at.at->version.upgrade(at.version)) return false;
  put(at.at, key, at.after_prefix(), created);
  at.at->version.unlock_changed();
  return true;
}

/// Links a new node above `at`, with the bytes that its prefix and the key have in common.
template <class Storage>
bool art<Storage>::split_prefix(const position& at, std::string_view key, link created) {
  if (!at.parent->version.upgrade(at.parent_version)) return false;
  if (!at.at->version.upgrade(at.version)) {
    at.parent->version.unlock_unchanged();
    return false;
  }
  const std::uint64_t word = at.at->prefix.load_relaxed();
  node* above = new_inner(
      node_kind::n4, {.level = at.level, .parent = at.parent, .is_inner = true, .covers = {at.at}});
  art_detail::set_prefix(above, word, at.matched);
  art_detail::add_child(above, art_detail::byte_at(word, at.matched), art_detail::link_of(at.at));
  put(above, key, at.depth + at.matched, created);
  // A prefix has at most 8 bytes, one of which becomes the child's byte. If all 8 bytes are
  // gone, the shift would be by 64 bits.
  const unsigned gone = at.matched + 1;
  art_detail::set_prefix(at.at, gone < 8 ? word >> (8 * gone) : 0, at.prefix_length - gone);
  art_detail::find_child(at.parent, art_detail::byte_at(key, at.depth - 1))
      ->store_release(art_detail::link_of(above));
  at.at->version.unlock_changed();
  at.parent->version.unlock_changed();
  return true;
}

/// Replaces a full node by the next larger kind. Returns false, so that the search starts again and
/// finds room.
template <class Storage>
bool art<Storage>::grow(const position& at, std::string_view key) {
  replace_inner(at, art_detail::byte_at(key, at.depth - 1), art_detail::larger(at.at->kind));
  return false;
}

/// Replaces the leaf that the key meets by nodes for the bytes that both keys have in common, with
/// both leaves below.
template <class Storage>
bool art<Storage>::expand_leaf(access& inside, const position& at, std::string_view key,
                               link created) {
  const auto read_there = read(leaf_of(at.target)->key, inside);
  if (!read_there || !at.at->version.upgrade(at.version)) return false;
  const std::string_view other = *read_there;
  const std::size_t branch_depth = at.after_prefix();  // the leaf is the child for
                                                       // key[branch_depth]
  std::size_t depth = branch_depth + 1;
  const std::size_t limit = std::min(key.size(), other.size());
  std::size_t common = depth;
  while (common < limit && key[common] == other[common]) ++common;

  node_place place{.level = at.level + 1,
                   .parent = at.at,
                   .is_inner = true,
                   .covers = {leaf_of(at.target), leaf_of(created)}};
  node* top = new_inner(node_kind::n4, place);
  node* last = top;
  for (; common - depth > art_detail::kMaxPrefix; depth += art_detail::kMaxPrefix + 1) {
    art_detail::set_prefix(last, art_detail::key_word(key, depth), art_detail::kMaxPrefix);
    ++place.level;
    place.parent = last;
    node* below = new_inner(node_kind::n4, place);
    art_detail::add_child(last, art_detail::byte_at(key, depth + art_detail::kMaxPrefix),
                          art_detail::link_of(below));
    last = below;
  }
  const auto rest = static_cast<unsigned>(common - depth);
  art_detail::set_prefix(last, rest ? art_detail::key_word(key, depth) : 0, rest);
  put(last, key, common, created);
  put(last, other, common, at.target);
  art_detail::find_child(at.at, art_detail::byte_at(key, branch_depth))
      ->store_release(art_detail::link_of(top));
  at.at->version.unlock_changed();
  return true;
}

// --- removing ----------------------------------------------------------------------------------

/// Unlinks the leaf at a position whose node this thread has locked, and unlocks the node.
template <class Storage>
void art<Storage>::detach(access&, const position& at, std::string_view key) {
  if (at.after_prefix() == key.size()) {
    at.at->terminal.store_release(0);
  } else {
    art_detail::remove_child(at.at, art_detail::byte_at(key, at.after_prefix()));
  }
  const bool is_untidy =
      art_detail::entries_of(at.at) <= 1 || art_detail::fitting(at.at) != at.at->kind;
  at.at->version.unlock_changed();
  retire_node<Storage>(leaf_of(at.target));
  if (is_untidy && at.at != root_) tidy(key);
}

/// Repairs the nodes on the path of an erased key until none needs it.
template <class Storage>
void art<Storage>::tidy(std::string_view key) {
  backoff wait;
  while (tidy_one(key)) wait();
}

/// Finds the first untidy node on the key's path and repairs it. True: look again.
template <class Storage>
bool art<Storage>::tidy_one(std::string_view key) {
  position at;
  at.at = root_;
  at.version = root_->version.read();
  for (;;) {
    at.prefix_length = at.at->prefix_length.load_acquire();
    at.matched =
        art_detail::matched_prefix(at.at->prefix.load_acquire(), at.prefix_length, key, at.depth);
    const unsigned entries = art_detail::entries_of(at.at);
    const node_kind kind = art_detail::fitting(at.at);
    if (!at.at->version.is_still(at.version)) return true;
    if (at.parent) {
      const std::uint8_t parent_byte = art_detail::byte_at(key, at.depth - 1);
      if (entries <= 1 && collapse(at, parent_byte)) return true;
      if (kind != at.at->kind) {
        replace_inner(at, parent_byte, kind);
        return true;
      }
    }
    if (at.matched < at.prefix_length || at.after_prefix() >= key.size()) return false;
    auto* where = art_detail::find_child(at.at, art_detail::byte_at(key, at.after_prefix()));
    const link child = where ? where->load_acquire() : 0;
    if (!at.at->version.is_still(at.version)) return true;
    if (!child || art_detail::is_leaf(child)) return false;
    at.depth = at.after_prefix() + 1;
    ++at.level;
    at.parent = at.at;
    at.parent_version = at.version;
    at.at = art_detail::inner_of(child);
    at.version = at.at->version.read();
    if (version_lock::is_obsolete(at.version) || !at.parent->version.is_still(at.parent_version))
      return true;
  }
}

/// Removes a node with at most one entry from the tree. True: done, or something has changed, look
/// again; false: the node must stay, because the prefixes do not fit into one node.
template <class Storage>
bool art<Storage>::collapse(const position& at, std::uint8_t parent_byte) {
  if (!at.parent->version.upgrade(at.parent_version)) return true;
  if (!at.at->version.upgrade(at.version)) {
    at.parent->version.unlock_unchanged();
    return true;
  }
  link only = at.at->terminal.load_relaxed();
  const auto child = art_detail::next_child(at.at, 0);
  if (child.target) only = child.target;
  if (only && !art_detail::is_leaf(only)) {
    node* below = art_detail::inner_of(only);
    below->version.lock();  // cannot be obsolete: making it so takes its parent's lock, which this
                            // thread holds
    const unsigned below_length = below->prefix_length.load_relaxed();
    const unsigned before = at.prefix_length + 1;
    if (before + below_length > art_detail::kMaxPrefix) {
      below->version.unlock_unchanged();
      at.at->version.unlock_unchanged();
      at.parent->version.unlock_unchanged();
      return false;
    }
    std::uint64_t word = at.at->prefix.load_relaxed();
    word |= std::uint64_t{child.byte} << (8 * at.prefix_length);
    if (before < 8) word |= below->prefix.load_relaxed() << (8 * before);
    art_detail::set_prefix(below, word, before + below_length);
    below->version.unlock_changed();
  }
  if (only) {
    art_detail::find_child(at.parent, parent_byte)->store_release(only);
  } else {
    art_detail::remove_child(at.parent, parent_byte);
  }
  at.at->version.unlock_obsolete();
  at.parent->version.unlock_changed();
  retire_inner(at.at);
  return true;
}

/// Replaces an inner node by one of another kind with the same contents. False: something has
/// changed.
template <class Storage>
bool art<Storage>::replace_inner(const position& at, std::uint8_t parent_byte, node_kind kind) {
  if (!at.parent->version.upgrade(at.parent_version)) return false;
  if (!at.at->version.upgrade(at.version)) {
    at.parent->version.unlock_unchanged();
    return false;
  }
  node* other = new_inner(
      kind, {.level = at.level, .parent = at.parent, .is_inner = true, .covers = {at.at}});
  art_detail::copy_contents(other, at.at);
  art_detail::find_child(at.parent, parent_byte)->store_release(art_detail::link_of(other));
  at.at->version.unlock_obsolete();
  at.parent->version.unlock_changed();
  retire_inner(at.at);
  return true;
}

/// Cuts the tree off at the root, and marks all nodes that are cut off as obsolete, so that writers
/// there start again from the root.
template <class Storage>
void art<Storage>::clear() noexcept {
  access inside;
  std::vector<link> cut;
  const auto take = [&cut](node* n) {
    if (const link terminal = n->terminal.load_relaxed()) cut.push_back(terminal);
    for (auto b = art_detail::next_child(n, 0); b.target;
         b = art_detail::next_child(n, b.byte + 1)) {
      cut.push_back(b.target);
    }
  };
  root_->version.lock();
  take(root_);
  root_->terminal.store_release(0);
  for (unsigned byte = 0; byte < 256; ++byte) {
    static_cast<art_detail::node256*>(root_)->children[byte].store_release(0);
  }
  root_->count.store_release(0);
  root_->version.unlock_changed();
  std::int64_t removed = 0;
  while (!cut.empty()) {
    const link next = cut.back();
    cut.pop_back();
    if (art_detail::is_leaf(next)) {
      retire_node<Storage>(leaf_of(next));
      ++removed;
      continue;
    }
    node* n = art_detail::inner_of(next);
    n->version.lock();
    take(n);
    n->version.unlock_obsolete();
    retire_inner(n);
  }
  count_.add(-removed);
}

template <class Storage>
art<Storage>::~art() {
  std::vector<link> rest{art_detail::link_of(root_)};
  while (!rest.empty()) {
    const link next = rest.back();
    rest.pop_back();
    if (art_detail::is_leaf(next)) {
      destroy_node<Storage>(leaf_of(next));
      continue;
    }
    node* n = art_detail::inner_of(next);
    if (const link terminal = n->terminal.load_relaxed()) rest.push_back(terminal);
    for (auto b = art_detail::next_child(n, 0); b.target;
         b = art_detail::next_child(n, b.byte + 1)) {
      rest.push_back(b.target);
    }
    if (n != root_) free_inner(n);
  }
}

}  // namespace isotherm::index
