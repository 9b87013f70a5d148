#include "index/art/art.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

template <class Storage>
bool art<Storage>::try_locate(std::string_view key, position& at) const noexcept {
  at = position{};
  at.at = root_;
  at.version = root_->version.read();
  for (;;) {
    node* const n = at.at;
    at.prefix_length = n->prefix_length.load_acquire();
    at.matched =
        art_detail::matched_prefix(n->prefix.load_acquire(), at.prefix_length, key, at.depth);
    if (at.matched < at.prefix_length) {
      at.how = ending::mismatch;
      return n->version.is_still(at.version);
    }
    const std::size_t next = at.after_prefix();
    if (next == key.size()) {
      at.target = n->terminal.load_acquire();
    } else {
      auto* where = art_detail::find_child(n, art_detail::byte_at(key, next));
      at.target = where ? where->load_acquire() : 0;
    }
    if (!n->version.is_still(at.version)) return false;
    if (!at.target || art_detail::is_leaf(at.target)) {
      at.how = at.target ? ending::occupied : ending::vacant;
      return true;
    }
    at.parent = n;
    at.parent_version = at.version;
    at.at = art_detail::inner_of(at.target);
    Storage::touch(at.at, kSearchedLines);
    at.version = at.at->version.read();
    if (version_lock::is_obsolete(at.version)) return false;
    // Coupling: the parent still led to the child when the child's version was read.
    if (!n->version.is_still(at.parent_version)) return false;
    at.depth = next + 1;
    ++at.level;
  }
}

template <class Storage>
auto art<Storage>::locate(access&, std::string_view key) const noexcept -> position {
  position at;
  for (backoff wait; !try_locate(key, at);) wait();
  if (at.how == ending::occupied) {
    Storage::touch(leaf_of(at.target), 1);
    leaf_of(at.target)->uses.add();
  }
  return at;
}

template <class Storage>
std::optional<std::string_view> art<Storage>::find(access& inside, std::string_view key) {
  const position at = locate(inside, key);
  if (at.how != ending::occupied) return std::nullopt;
  entry* found = leaf_of(at.target);
  const bytes* held = found->key.get(inside);
  const bytes* value = found->value.get(inside);  // both fetched at once: the two cache misses
                                                  // overlap
  prefetch(value);
  if (!held || held->view() != key || !value) return std::nullopt;
  return value->view();
}

// --- in order ----------------------------------------------------------------------------------

/// Goes down the path of `from` as far as it exists. Calls `turn(node, course, byte)` for each node
/// with the way in which `from` goes on there. False: something has changed meanwhile.
template <class Storage>
template <class Turn>
bool art<Storage>::try_seek(std::string_view from, Turn turn, std::vector<frame>& path) const {
  path.clear();
  node* n = root_;
  std::uint64_t version = n->version.read();
  for (std::size_t depth = 0;;) {
    const unsigned length = n->prefix_length.load_acquire();
    const std::uint64_t prefix = n->prefix.load_acquire();
    const unsigned matched = art_detail::matched_prefix(prefix, length, from, depth);
    if (matched < length) {
      const bool is_greater =
          depth + matched == from.size() ||
          art_detail::byte_at(prefix, matched) > art_detail::byte_at(from, depth + matched);
      turn(n, is_greater ? course::greater : course::less, 0);
      return n->version.is_still(version);
    }
    depth += length;
    if (depth == from.size()) {
      turn(n, course::ends, 0);
      return n->version.is_still(version);
    }
    const std::uint8_t byte = art_detail::byte_at(from, depth);
    auto* where = art_detail::find_child(n, byte);
    const link child = where ? where->load_acquire() : 0;
    if (!n->version.is_still(version)) return false;
    if (!child || art_detail::is_leaf(child)) {
      turn(n, course::stops, byte);
      return true;
    }
    turn(n, course::descends, byte);
    node* below = art_detail::inner_of(child);
    const std::uint64_t below_version = below->version.read();
    if (version_lock::is_obsolete(below_version)) return false;
    if (!n->version.is_still(version)) return false;
    n = below;
    version = below_version;
    ++depth;
  }
}

/// Fills `path` so that a scan from there visits every key from the bound on, and perhaps some
/// others first.
template <class Storage>
void art<Storage>::seek(up, const std::optional<scan_start>& from, std::vector<frame>& path) const {
  const scan_start first = from.value_or(scan_start{});
  const auto turn = [&](node* n, course how, int byte) {
    if (how == course::greater) path.push_back({n, kTerminal});
    if (how == course::ends) path.push_back({n, first.kind == bound::exclusive ? 0 : kTerminal});
    if (how == course::stops) path.push_back({n, byte});
    if (how == course::descends) path.push_back({n, byte + 1});
  };
  for (backoff wait; !try_seek(first.key, turn, path);) wait();
}

template <class Storage>
void art<Storage>::seek(down, const std::optional<scan_start>& from,
                        std::vector<frame>& path) const {
  if (!from) {
    path.assign(1, {root_, kAllBytes});
    return;
  }
  const auto turn = [&](node* n, course how, int byte) {
    if (how == course::less) path.push_back({n, kAllBytes});
    if (how == course::ends) path.push_back({n, from->kind == bound::exclusive ? kTerminal : 0});
    if (how == course::stops) path.push_back({n, byte + 1});
    if (how == course::descends) path.push_back({n, byte});
  };
  for (backoff wait; !try_seek(from->key, turn, path);) wait();
}

/// The link that comes next in a node, 0 if there is none; `next` is set to where to go on after
/// it.
template <class Storage>
auto art<Storage>::up::step(const frame& top, int& next) noexcept -> link {
  if (top.next == kTerminal) {
    next = 0;
    if (const link terminal = top.at->terminal.load_acquire()) return terminal;
  }
  const auto b =
      art_detail::next_child(top.at, top.next == kTerminal ? 0 : static_cast<unsigned>(top.next));
  next = static_cast<int>(b.byte) + 1;
  return b.target;
}

template <class Storage>
auto art<Storage>::down::step(const frame& top, int& next) noexcept -> link {
  next = kTerminal;
  if (top.next == kTerminal) return 0;
  const auto b = art_detail::previous_child(top.at, static_cast<unsigned>(top.next));
  if (!b.target) return top.at->terminal.load_acquire();
  next = static_cast<int>(b.byte);
  return b.target;
}

/// Visits the pairs from the bound on (without one: all), upwards or downwards.
template <class Storage>
template <class Way, class Visit>
void art<Storage>::iterate(access& inside, std::optional<scan_start> from, reading how,
                           const Visit& visit) {
  std::vector<frame> path;
  // A pair was visited since the last seek: all that follow are beyond the bound.
  bool is_past_bound = false;
  seek(Way(), from, path);
  while (!path.empty()) {
    node* const n = path.back().at;
    const std::uint64_t version = n->version.read();
    int next = 0;
    const link target = Way::step(path.back(), next);
    if (version_lock::is_obsolete(version)) {
      // The bound's key may have been visited already: its object lives as long as the caller's
      // scope.
      seek(Way(), from, path);
      is_past_bound = false;
      continue;
    }
    if (!n->version.is_still(version)) continue;
    if (!target) {
      path.pop_back();
      continue;
    }
    path.back().next = next;
    if (!art_detail::is_leaf(target)) {
      path.push_back({art_detail::inner_of(target), Way::kStart});
      Storage::touch(path.back().at, kSearchedLines);
      continue;
    }
    entry* found = leaf_of(target);
    Storage::touch(found, 1);
    const auto key = read(found->key, inside, how);
    if (!key) {  // cannot be continued from
      if (!visit(key, std::nullopt)) return;
      continue;
    }
    if (!is_past_bound && from && Way::is_left_out(*from, *key)) continue;
    is_past_bound = true;
    if (how == reading::use) found->uses.add();
    if (!visit(key, read_value(found->value, inside, how))) return;
    from = scan_start{*key, bound::exclusive};
  }
}

template <class Storage>
std::uint64_t art<Storage>::walk(access& inside, std::uint64_t cursor, const pair_visitor& visit) {
  return walk_in_order(inside, cursors_, cursor, visit,
                       [&](const scan_start& from, const pair_visitor& each) {
                         iterate<up>(inside, from, reading::peek, each);
                       });
}

// --- checking ----------------------------------------------------------------------------------

template <class Storage>
bool art<Storage>::is_valid_node(access& inside, const place& here, std::size_t& leaves,
                                 std::vector<place>& below) {
  node* const n = here.at;
  if (version_lock::is_obsolete(n->version.read())) return false;
  std::string path = here.path;
  const std::uint64_t prefix = n->prefix.load_acquire();
  for (unsigned i = 0; i < n->prefix_length.load_acquire(); ++i) {
    path.push_back(static_cast<char>(art_detail::byte_at(prefix, i)));
  }
  const auto is_valid_leaf = [&](link l, std::string_view start, bool is_whole) {
    ++leaves;
    const auto key = read(leaf_of(l)->key, inside);
    if (!key || leaf_of(l)->value.is_null()) return false;
    return is_whole ? key == start : key->starts_with(start);
  };
  if (Storage::kPlaced && placement::is_slow(n) && covers_fast(n)) return false;
  const link terminal = n->terminal.load_acquire();
  if (terminal && !is_valid_leaf(terminal, path, true)) return false;
  unsigned children = 0, inner_children = 0;
  for (auto b = art_detail::next_child(n, 0); b.target; b = art_detail::next_child(n, b.byte + 1)) {
    ++children;
    std::string down = path + static_cast<char>(b.byte);
    if (art_detail::is_leaf(b.target)) {
      if (!is_valid_leaf(b.target, down, false)) return false;
    } else {
      ++inner_children;
      below.push_back({art_detail::inner_of(b.target), std::move(down)});
    }
  }
  if (children != n->count.load_acquire()) return false;
  if (n == root_) return n->prefix_length.load_acquire() == 0;
  // A node with one entry must be a link in a chain that holds a long prefix.
  return art_detail::entries_of(n) > 1 || (children == 1 && inner_children == 1);
}

template <class Storage>
bool art<Storage>::is_valid() {
  access inside;
  std::size_t leaves = 0;
  std::vector<place> rest;
  rest.push_back({root_, std::string()});
  while (!rest.empty()) {
    const place here = std::move(rest.back());
    rest.pop_back();
    if (!is_valid_node(inside, here, leaves, rest)) return false;
  }
  return leaves == this->size();
}

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

/// For a key that differs from the prefix of `at`: a new node above takes the bytes in common.
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

/// Replaces a full node by the next larger kind. Always false: the search starts again and finds
/// room.
template <class Storage>
bool art<Storage>::grow(const position& at, std::string_view key) {
  replace_inner(at, art_detail::byte_at(key, at.depth - 1), art_detail::larger(at.at->kind));
  return false;
}

/// For a key that meets another key's leaf: makes nodes for the bytes in common, with both leaves
/// below.
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

template class art<managed>;
template class art<unmanaged>;
template class art<placed<managed>>;
template class art<placed<unmanaged>>;
template class art<emulated>;
template std::unique_ptr<any_index> make_adapter<art>(management, std::size_t);
template placed_index make_placed_adapter<art, placed<managed>>(placement::placer&);
template placed_index make_placed_adapter<art, placed<unmanaged>>(placement::placer&);
template placed_index make_placed_adapter<art, emulated>(placement::placer&);

}  // namespace isotherm::index
