// The adaptive radix tree's part of placement (placement/placed_tree.hpp): an inner node that is
// relocated is replaced, like one that grows; a leaf is replaced under the lock of the node above.
// For sources that instantiate it.
#pragma once

#include <algorithm>

#include "index/art/art.hpp"

namespace isotherm::index {

namespace art_detail {

/// Returns the link of `n` to a node or leaf below; null when there is none.
inline base::atomic<link>* link_to_address(node* n, const void* below) noexcept {
  const auto address = reinterpret_cast<link>(below);
  const auto leads_there = [address](link l) { return (l & ~link{1}) == address; };
  if (leads_there(n->terminal.load_relaxed())) return &n->terminal;
  for (auto b = next_child(n, 0); b.target; b = next_child(n, b.byte + 1)) {
    if (leads_there(b.target)) return find_child(n, static_cast<std::uint8_t>(b.byte));
  }
  return nullptr;
}

/// Fetches the leaves below a node ahead of their visit, so that their cache misses overlap. Keeps
/// as many on the way as kAhead, however far apart their bytes lie.
class leaf_prefetch {
 public:
  /// Before the visit of the child of `n` at byte `next` or behind it.
  void go_on(node* n, int next) noexcept {
    const auto from = static_cast<unsigned>(std::max(next, 0));
    if (n != node_ || from >= fetched_) {
      fetched_ = from;
      on_the_way_ = 0;
    } else if (from != visited_ && on_the_way_ > 0) {
      --on_the_way_;
    }
    node_ = n;
    visited_ = from;
    while (fetched_ <= kLastByte && on_the_way_ < kAhead) {
      const branch b = next_child(n, fetched_);
      if (!b.target) {
        fetched_ = kLastByte + 1;
        return;
      }
      prefetch(reinterpret_cast<const void*>(b.target & ~link{1}));
      fetched_ = b.byte + 1;
      ++on_the_way_;
    }
  }

 private:
  static constexpr unsigned kAhead = 16, kLastByte = 255;
  node* node_ = nullptr;
  unsigned visited_ = 0;  // the children at lower bytes were visited
  unsigned fetched_ = 0;  // the first byte whose leaf was not fetched
  unsigned on_the_way_ = 0;
};

}  // namespace art_detail

template <class Storage>
bool art<Storage>::visit_leaves(const scope&, std::string& cursor,
                                const placement::leaf_visitor& visit) {
  std::vector<frame> path;
  std::vector<void*> nodes;
  entry* last = nullptr;
  art_detail::leaf_prefetch ahead;
  const std::size_t leaf_bytes = placement::bytes_taken_by(sizeof(entry));
  const auto seek_again = [&](const std::optional<scan_start>& from) {
    seek(up(), from, path);
    nodes.clear();
    for (const frame& each : path) nodes.push_back(each.at);
  };
  access waits;
  const auto place_of = [&waits](const entry* e) {
    const auto key = read(e->key, waits, reading::peek);
    return key ? scan_start{*key, bound::exclusive} : scan_start{};
  };
  seek_again(scan_start{cursor, cursor.empty() ? bound::inclusive : bound::exclusive});
  while (!path.empty()) {
    node* const n = path.back().at;
    const std::uint64_t version = n->version.read();
    int next = 0;
    ahead.go_on(n, path.back().next);
    const link target = up::step(path.back(), next);
    if (version_lock::is_obsolete(version)) {
      seek_again(last ? place_of(last) : scan_start{cursor});
      continue;
    }
    if (!n->version.is_still(version)) continue;
    if (!target) {
      path.pop_back();
      nodes.pop_back();
      continue;
    }
    path.back().next = next;
    if (!art_detail::is_leaf(target)) {
      path.push_back({art_detail::inner_of(target), up::kStart});
      nodes.push_back(path.back().at);
      Storage::touch(path.back().at, kSearchedLines);
      continue;
    }
    last = leaf_of(target);
    Storage::touch(last, 1);
    nodes.push_back(last);
    const bool goes_on = visit({nodes, last->uses, leaf_bytes});
    nodes.pop_back();
    if (goes_on) continue;
    // A key that cannot be read cannot be continued from: the next one is.
    if (const scan_start here = place_of(last); !here.key.empty()) {
      cursor = here.key;
      return true;
    }
  }
  return false;
}

/// Relocates the leaf that `where`, a link of the locked node `above`, leads to; unlocks `above`.
template <class Storage>
placement::relocated art<Storage>::relocate_leaf(node* above, base::atomic<link>& where,
                                                 placement::tier to) {
  entry* const old = leaf_of(where.load_relaxed());
  auto* const made = ::new (placement::allocate_node(to, sizeof(entry))) entry(relocation{}, *old);
  made->uses.set(old->uses.value());
  where.store_release(link_to(made));
  made->finish_relocation();
  above->version.unlock_changed();
  placement::retire_node(old);  // its guides own nothing any more
  return {placement::relocation_result::done, made};
}

template <class Storage>
placement::relocated art<Storage>::relocate(const scope&, std::span<void* const> nodes,
                                            placement::tier to) {
  if (nodes.size() < 2) return {};
  node* const above = static_cast<node*>(nodes[nodes.size() - 2]);
  if (!above->version.lock()) return {};
  const auto refuse = [above](placement::relocation_result why) {
    above->version.unlock_unchanged();
    return placement::relocated{why};
  };
  auto* const where = art_detail::link_to_address(above, nodes.back());
  if (!where) return refuse(placement::relocation_result::changed);
  if (to == placement::tier::fast && placement::is_slow(above)) {
    return refuse(placement::relocation_result::parent_is_slow);
  }
  if (art_detail::is_leaf(where->load_relaxed())) return relocate_leaf(above, *where, to);
  // The node cannot be obsolete: its parent leads to it. Threads that hold a node's lock wait for
  // those of nodes below only.
  node* const n = art_detail::inner_of(where->load_relaxed());
  n->version.lock();
  if (to == placement::tier::slow && covers_fast(n)) {
    n->version.unlock_unchanged();
    return refuse(placement::relocation_result::covers_fast_node);
  }
  node* const made =
      art_detail::construct(placement::allocate_node(to, art_detail::size_of(n->kind)), n->kind);
  art_detail::copy_contents(made, n);
  where->store_release(art_detail::link_of(made));
  n->version.unlock_obsolete();
  above->version.unlock_changed();
  placement::retire_node(n);
  return {placement::relocation_result::done, made};
}

}  // namespace isotherm::index
