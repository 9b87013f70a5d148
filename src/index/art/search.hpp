// The searches, scans and checks of art.hpp, for sources that instantiate them.
#pragma once

#include "index/art/art.hpp"

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

/// Returns the link that comes next in a node, 0 if there is none, and sets `next` to where to go
/// on after it.
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
  enum class spells : unsigned char { key, start_of_key };
  const auto is_valid_leaf = [&](link l, std::string_view start, spells how) {
    ++leaves;
    const auto key = read(leaf_of(l)->key, inside);
    if (!key || leaf_of(l)->value.is_null()) return false;
    return how == spells::key ? key == start : key->starts_with(start);
  };
  if (Storage::kPlaced && placement::is_slow(n) && covers_fast(n)) return false;
  const link terminal = n->terminal.load_acquire();
  if (terminal && !is_valid_leaf(terminal, path, spells::key)) return false;
  unsigned children = 0, inner_children = 0;
  for (auto b = art_detail::next_child(n, 0); b.target; b = art_detail::next_child(n, b.byte + 1)) {
    ++children;
    std::string down = path + static_cast<char>(b.byte);
    if (art_detail::is_leaf(b.target)) {
      if (!is_valid_leaf(b.target, down, spells::start_of_key)) return false;
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

}  // namespace isotherm::index
