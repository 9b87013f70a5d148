// art: operations that only read (art.hpp).
#pragma once

#include "index/art/art.hpp"

namespace isotherm::index {

template <class Holding>
bool art<Holding>::try_descend(std::string_view key, position& at) const noexcept {
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
    at.version = at.at->version.read();
    if (version_lock::is_obsolete(at.version)) return false;
    // Coupling: the child's version was read while the parent still led to it.
    if (!n->version.is_still(at.parent_version)) return false;
    at.depth = next + 1;
  }
}

template <class Holding>
auto art<Holding>::descend(std::string_view key) const noexcept -> position {
  position at;
  for (backoff wait; !try_descend(key, at);) wait();
  return at;
}

template <class Holding>
std::optional<std::string_view> art<Holding>::find(const scope& inside, std::string_view key) {
  const position at = descend(key);
  if (at.how != ending::occupied) return std::nullopt;
  leaf* found = leaf_of(at.target);
  const bytes* held = found->key.get(inside);
  const bytes* value = found->value.get(inside);  // both asked for at once: two misses overlap
  prefetch(value);
  if (held->view() != key) return std::nullopt;
  return value->view();
}

// --- in order ----------------------------------------------------------------------------------

/// Fills `path` so that going on from it visits every key >= `from`, and perhaps some lesser ones
/// first. False: something changed in between.
template <class Holding>
bool art<Holding>::try_seek(const scope&, std::string_view from, bool beyond,
                            std::vector<frame>& path) {
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
      if (is_greater) path.push_back({n, kTerminal});
      return n->version.is_still(version);
    }
    depth += length;
    if (depth == from.size()) {
      path.push_back({n, beyond ? 0 : kTerminal});
      return n->version.is_still(version);
    }
    const std::uint8_t byte = art_detail::byte_at(from, depth);
    auto* where = art_detail::find_child(n, byte);
    const link child = where ? where->load_acquire() : 0;
    if (!n->version.is_still(version)) return false;
    if (!child || art_detail::is_leaf(child)) {
      path.push_back({n, byte});
      return true;
    }
    path.push_back({n, byte + 1});
    node* below = art_detail::inner_of(child);
    const std::uint64_t below_version = below->version.read();
    if (version_lock::is_obsolete(below_version)) return false;
    if (!n->version.is_still(version)) return false;
    n = below;
    version = below_version;
    ++depth;
  }
}

template <class Holding>
void art<Holding>::seek(const scope& inside, std::string_view from, bool beyond,
                        std::vector<frame>& path) {
  for (backoff wait; !try_seek(inside, from, beyond, path);) wait();
}

/// Visits the pairs with key >= `from`, or > `from` when `beyond`.
template <class Holding>
void art<Holding>::iterate(const scope& inside, std::string_view from, bool beyond,
                           const visitor& visit) {
  std::vector<frame> path;
  bool is_past_bound =
      false;  // a pair was visited since the last seek: all that follow are greater
  seek(inside, from, beyond, path);
  while (!path.empty()) {
    frame& top = path.back();
    node* const n = top.at;
    const std::uint64_t version = n->version.read();
    art_detail::branch next;
    bool is_terminal = false;
    if (top.next == kTerminal) {
      next.target = n->terminal.load_acquire();
      is_terminal = next.target != 0;
    }
    if (!is_terminal) {
      next = art_detail::next_child(n, top.next == kTerminal ? 0 : static_cast<unsigned>(top.next));
    }
    if (version_lock::is_obsolete(version)) {
      // `from` may be a key already visited: its object lives as long as the caller's scope.
      seek(inside, from, beyond, path);
      is_past_bound = false;
      continue;
    }
    if (!n->version.is_still(version)) continue;
    if (!next.target) {
      path.pop_back();
      continue;
    }
    top.next = is_terminal ? 0 : static_cast<int>(next.byte) + 1;
    if (!art_detail::is_leaf(next.target)) {
      path.push_back({art_detail::inner_of(next.target), kTerminal});
      continue;
    }
    leaf* found = leaf_of(next.target);
    const std::string_view key = found->key.get(inside)->view();
    if (!is_past_bound && (beyond ? key <= from : key < from)) continue;
    is_past_bound = true;
    if (!visit(key, found->value.get(inside)->view())) return;
    from = key;
    beyond = true;
  }
}

template <class Holding>
std::uint64_t art<Holding>::walk(const scope& inside, std::uint64_t cursor, const visitor& visit) {
  return walk_in_order(cursors_, cursor, visit,
                       [&](std::string_view from, bool beyond, const visitor& each) {
                         iterate(inside, from, beyond, each);
                       });
}

// --- checking ----------------------------------------------------------------------------------

template <class Holding>
bool art<Holding>::is_valid_node(const scope& inside, const place& here, std::size_t& leaves,
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
    const std::string_view key = leaf_of(l)->key.get(inside)->view();
    return !leaf_of(l)->value.is_null() && (is_whole ? key == start : key.starts_with(start));
  };
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
  // A node with one entry is a link of a chain that holds a long prefix.
  return art_detail::entries_of(n) > 1 || (children == 1 && inner_children == 1);
}

template <class Holding>
bool art<Holding>::is_valid() {
  const scope inside;
  std::size_t leaves = 0;
  std::vector<place> rest;
  rest.push_back({root_, std::string()});
  while (!rest.empty()) {
    const place here = std::move(rest.back());
    rest.pop_back();
    if (!is_valid_node(inside, here, leaves, rest)) return false;
  }
  return leaves == size();
}

}  // namespace isotherm::index
