// art: operations that only read (art.hpp).
#pragma once

#include "index/art/art.hpp"

namespace isotherm::index {

template <class Holding>
bool art<Holding>::try_locate(std::string_view key, position& at) const noexcept {
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
auto art<Holding>::locate(const scope&, std::string_view key) const noexcept -> position {
  position at;
  for (backoff wait; !try_locate(key, at);) wait();
  return at;
}

template <class Holding>
std::optional<std::string_view> art<Holding>::find(const scope& inside, std::string_view key) {
  const position at = locate(inside, key);
  if (at.how != ending::occupied) return std::nullopt;
  entry* found = leaf_of(at.target);
  const bytes* held = found->key.get(inside);
  const bytes* value = found->value.get(inside);  // both asked for at once: two misses overlap
  prefetch(value);
  if (held->view() != key) return std::nullopt;
  return value->view();
}

// --- in order ----------------------------------------------------------------------------------

/// Goes down the path of `from` as far as it exists. `turn(node, where, byte)` is told of each node
/// and of how `from` goes on in it. False: something changed in between.
template <class Holding>
template <class Turn>
bool art<Holding>::try_seek(std::string_view from, Turn turn, std::vector<frame>& path) const {
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

/// Fills `path` so that going on from it visits every key of the bound on, and perhaps some others
/// first.
template <class Holding>
void art<Holding>::seek(up, const std::optional<bound>& from, std::vector<frame>& path) const {
  const bound first = from.value_or(bound{"", false});
  const auto turn = [&](node* n, course how, int byte) {
    if (how == course::greater) path.push_back({n, kTerminal});
    if (how == course::ends) path.push_back({n, first.beyond ? 0 : kTerminal});
    if (how == course::stops) path.push_back({n, byte});
    if (how == course::descends) path.push_back({n, byte + 1});
  };
  for (backoff wait; !try_seek(first.key, turn, path);) wait();
}

template <class Holding>
void art<Holding>::seek(down, const std::optional<bound>& from, std::vector<frame>& path) const {
  if (!from) {
    path.assign(1, {root_, kAllBytes});
    return;
  }
  const auto turn = [&](node* n, course how, int byte) {
    if (how == course::less) path.push_back({n, kAllBytes});
    if (how == course::ends) path.push_back({n, from->beyond ? kTerminal : 0});
    if (how == course::stops) path.push_back({n, byte + 1});
    if (how == course::descends) path.push_back({n, byte});
  };
  for (backoff wait; !try_seek(from->key, turn, path);) wait();
}

/// What comes next in a node, 0 when nothing does, and where to go on after it.
template <class Holding>
auto art<Holding>::up::step(const frame& top, int& next) noexcept -> link {
  if (top.next == kTerminal) {
    next = 0;
    if (const link terminal = top.at->terminal.load_acquire()) return terminal;
  }
  const auto b =
      art_detail::next_child(top.at, top.next == kTerminal ? 0 : static_cast<unsigned>(top.next));
  next = static_cast<int>(b.byte) + 1;
  return b.target;
}

template <class Holding>
auto art<Holding>::down::step(const frame& top, int& next) noexcept -> link {
  next = kTerminal;
  if (top.next == kTerminal) return 0;
  const auto b = art_detail::previous_child(top.at, static_cast<unsigned>(top.next));
  if (!b.target) return top.at->terminal.load_acquire();
  next = static_cast<int>(b.byte);
  return b.target;
}

/// Visits the pairs of the bound on (without one: all), upwards or downwards.
template <class Holding>
template <class Way>
void art<Holding>::iterate(const scope& inside, std::optional<bound> from, regard how,
                           const visitor& visit) {
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
      // The bound may be a key already visited: its object lives as long as the caller's scope.
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
      continue;
    }
    entry* found = leaf_of(target);
    const std::string_view key = look(found->key, inside, how)->view();
    if (guides::is_unreadable(key)) continue;  // no bound to go on from
    if (!is_past_bound && from && Way::is_left_out(*from, key)) continue;
    is_past_bound = true;
    if (!visit(key, look(found->value, inside, how)->view())) return;
    from = bound{key, true};
  }
}

template <class Holding>
std::uint64_t art<Holding>::walk(const scope& inside, std::uint64_t cursor, const visitor& visit) {
  return walk_in_order(cursors_, cursor, visit,
                       [&](std::string_view from, bool beyond, const visitor& each) {
                         iterate<up>(inside, bound{from, beyond}, regard::glance, each);
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
  return leaves == this->size();
}

}  // namespace isotherm::index
