#include "index/masstree/relocation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "sync/step_hook.hpp"

namespace isotherm::index {

namespace masstree_detail {

using placement::relocated, placement::relocation_result, placement::tier;

// --- the walk ----------------------------------------------------------------------------------

namespace {

void append_slice(std::string& to, std::uint64_t slice) {
  const std::uint64_t bytes = std::byteswap(slice);
  to.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
}

}  // namespace

void border_walk::seek() {
  for (backoff wait; !try_seek();) wait();
}

/// Goes to the place behind position_. False: a layer on the way was removed.
bool border_walk::try_seek() {
  frames_.clear();
  nodes_.clear();
  base::atomic<link>* where = &top_;
  link top = top_.load_acquire();
  for (std::size_t depth = 0;;) {
    const wanted last(key_slice(position_, depth), kGoesOn);
    const bool goes_on = position_.size() > depth + sizeof last.slice;
    frame here{.at = nullptr, .seen = version(), .order = permutation()};
    here.at = find_border(*where, top, last.slice, here.seen);
    if (!here.at) return false;
    here.order = here.at->order();
    const unsigned slot = here.at->find(here.order, last);
    const link target = slot == kNoSlot ? 0 : here.at->link_at(slot).load_acquire();
    if (!position_.empty()) {
      here.place = here.at->place_of(here.order, last) + unsigned{slot != kNoSlot};
      here.is_met = !goes_on && here.place == here.order.count();
    }
    sync::pause_at(sync::step::walked_to, here.at);
    // `where` is not read again: its slot may lead to something else by now. find_border() returns
    // null from a former top that is gone.
    if (!here.is_believed()) continue;
    border* const at = here.at;
    push(here);
    if (!goes_on || target == 0 || is_leaf(target)) return true;
    where = &at->link_at(slot);
    top = target;
    depth += sizeof last.slice;
  }
}

void border_walk::push(frame here) {
  here.above = nodes_.size();
  append_path(here.at);
  frames_.push_back(here);
}

/// Appends the nodes from the layer's top to a border node, as parents name them at the moment.
void border_walk::append_path(border* to) {
  const auto begin = static_cast<std::ptrdiff_t>(nodes_.size());
  node* n = to;
  for (nodes_.push_back(n); !n->state.stable().is_root(); nodes_.push_back(n)) {
    n = parent_of(n).load_acquire();
  }
  std::reverse(nodes_.begin() + begin, nodes_.end());
}

/// Goes to the first border node of a layer. False: the layer was removed.
bool border_walk::enter(base::atomic<link>& where, link top) {
  frame here{.at = nullptr, .seen = version(), .order = permutation()};
  do {
    here.at = find_border(where, top, 0, here.seen);
    if (!here.at) return false;
    here.order = here.at->order();
  } while (!here.is_believed());
  push(here);
  return true;
}

void border_walk::leave_layer() {
  nodes_.resize(frames_.back().above);
  frames_.pop_back();
}

/// Enters the next layer to which entries lead, if there is one. False: seek again.
bool border_walk::go_to_layer(frame& here, bool& has_entered) {
  while (here.place < here.order.count()) {
    auto& where = here.at->link_at(here.order[here.place++]);
    const link target = where.load_acquire();
    if (is_leaf(target)) continue;
    has_entered = true;
    return enter(where, target);
  }
  return true;
}

/// Goes on to the next border node, or out of the layer after its last. False: seek again.
bool border_walk::go_to_neighbour() {
  const frame& here = frames_.back();
  border* const to = here.at->next.load_acquire();
  if (!to) {
    const bool is_last = here.is_believed();
    if (is_last) leave_layer();
    return is_last;
  }
  frame there{.at = to, .seen = to->state.stable(), .order = to->order()};
  // The checks come after the read of the order, as in cursor::go_to_neighbour().
  if (there.seen.is_deleted() || !here.is_believed() || !there.is_believed()) return false;
  leave_layer();
  push(there);
  return true;
}

/// Writes down where the node that is met now ends. False: one on its way has changed.
bool border_walk::note_position() {
  std::string here;
  for (const frame& each : frames_) {
    // The leftmost node of the first layer may be empty; others are about to be removed.
    const std::uint64_t slice =
        each.place > 0 ? each.at->entry(each.order[each.place - 1]).slice : 0;
    append_slice(here, slice);
    if (!each.is_believed()) return false;
  }
  position_ = std::move(here);
  return true;
}

border* border_walk::next() {
  while (!frames_.empty()) {
    frame& here = frames_.back();
    border* const at = here.at;
    bool goes_on = true, has_entered = false;
    if (here.is_met) {
      goes_on = go_to_neighbour();
    } else if (!go_to_layer(here, has_entered)) {
      goes_on = false;
    } else if (!has_entered) {
      here.is_met = true;
      const bool is_leftmost = !at->previous.load_acquire();
      if (here.place == 0 && !is_leftmost) continue;  // empty
      if (note_position()) return at;
      goes_on = false;
    }
    if (!goes_on) seek();
  }
  return nullptr;
}

// --- relocation --------------------------------------------------------------------------------

namespace {

/// Holds the locks of nodes until the end of its block.
class node_locks {
 public:
  node_locks() = default;
  ~node_locks() {
    while (count_ > 0) nodes_[--count_]->state.unlock();
  }
  node_locks(const node_locks&) = delete;
  node_locks& operator=(const node_locks&) = delete;

  /// False: the node has left the tree.
  bool lock(node* n) noexcept {
    n->state.lock();
    add(n);
    return !n->state.now().is_deleted();
  }
  /// Takes over the lock of a node that is locked.
  void add(node* n) noexcept { nodes_[count_++] = n; }

 private:
  std::array<node*, 4> nodes_;  // the node, its parent, its neighbour, the one above its layer
  unsigned count_ = 0;
};

/// Brings a link to the layer with the top `top` up to date. False: it is another layer, or has
/// another top by now.
bool leads_to(base::atomic<link>& where, node* top) noexcept {
  for (;;) {
    const link now = where.load_acquire();
    if (is_leaf(now)) return false;
    if (node_of(now) == top) return true;
    version seen;
    if (climb(where, node_of(now), seen) != top) return false;
  }
}

/// Returns the link of the locked node `upper` to a layer, brought up to date, or null.
base::atomic<link>* link_to_layer(border* upper, node* top) noexcept {
  const permutation order = upper->order();
  for (unsigned place = 0; place < order.count(); ++place) {
    if (auto& where = upper->link_at(order[place]); leads_to(where, top)) return &where;
  }
  return nullptr;
}

/// Whether a node below the locked node `n`, other than its leaves, is fast.
bool covers_fast(node* n) noexcept {
  if (n->is_border()) {
    auto& at = *static_cast<border*>(n);
    const permutation order = at.order();
    for (unsigned place = 0; place < order.count(); ++place) {
      const link target = at.link_at(order[place]).load_acquire();
      if (!is_leaf(target) && leads_to_fast(target)) return true;
    }
    return false;
  }
  auto& at = *static_cast<interior*>(n);
  for (unsigned i = 0; i <= at.count.load_relaxed(); ++i) {
    if (placement::is_fast(at.children[i].load_relaxed())) return true;
  }
  return false;
}

/// Fills a copy of a border node, whose leaves come to the same tier.
class border_copy {
 public:
  border_copy(border& from, border& made, tier to, const leaf_moves& moves) : moves_(moves) {
    const permutation order = from.order();
    for (unsigned i = 0; i < order.count(); ++i) {
      const link target = from.link_at(order[i]).load_acquire();
      made.fill(i, from.entry(order[i]), is_leaf(target) ? moved(target, to) : target);
    }
    made.set_order(permutation(order.count()));
    made.next.store_release(from.next.load_relaxed());
    made.previous.store_release(from.previous.load_relaxed());
    made.parent.store_release(from.parent.load_relaxed());
    made.uses.set(from.uses.value());
  }
  /// Requires: nothing leads to the node that was copied any more.
  void settle() {
    for (unsigned i = 0; i < count_; ++i) moves_.settle(moved_[i].first, moved_[i].second);
  }

 private:
  link moved(link leaf, tier to) {
    const bool is_there = placement::is_fast(leaf_address(leaf)) == (to == tier::fast);
    if (is_there) return leaf;
    moved_[count_] = {leaf, moves_.copy(leaf, to)};
    return moved_[count_++].second;
  }

  const leaf_moves& moves_;
  std::array<std::pair<link, link>, kSlots> moved_;
  unsigned count_ = 0;
};

void copy_contents(interior& from, interior& made) {
  const unsigned count = from.count.load_relaxed();
  for (unsigned i = 0; i < count; ++i) made.slices[i].store_release(from.slices[i].load_relaxed());
  for (unsigned i = 0; i <= count; ++i) {
    made.children[i].store_release(from.children[i].load_relaxed());
  }
  made.count.store_release(count);
  made.parent.store_release(from.parent.load_relaxed());
  // The parents come last: a search that climbs from a child takes the copy for the node. Their
  // release pairs with the acquire in climb(), so that the search finds the copy filled.
  for (unsigned i = 0; i <= count; ++i) {
    node* const child = made.children[i].load_relaxed();
    parent_of(child).store_release(&made);
    sync::pause_at(sync::step::copied_node, child);
  }
}

/// A node to be relocated, which is locked, and where it is linked.
struct linked_node {
  node* at;
  base::atomic<link>* where = nullptr;  ///< of a top
  interior* parent = nullptr;           ///< of another node
  border* before = nullptr;             ///< the border node on its left

  void put(node* made) const noexcept {
    if (where) {
      where->store_release(link_to(made));
    } else {
      parent->children[parent->place_of(at)].store_release(made);
    }
    if (!made->is_border()) return;
    auto* const n = static_cast<border*>(made);
    if (before) before->next.store_release(n);
    if (border* const after = n->next.load_relaxed()) after->previous.store_release(n);
  }
};

/// Replaces a node by a locked copy, and unlocks the copy. The node is marked before it is copied:
/// searches that meet it wait until the copy is in its place, and start again then. Memory orders
/// are those of version.hpp. Fields that a lock held here guards are loaded relaxed; links take an
/// acquire, since searches repair them without a lock (border::link_at()).
node* replace(const linked_node& old, tier to, const leaf_moves& moves) {
  const std::uint64_t root = old.at->state.now().is_root() ? version::kRoot : 0;
  const auto memory = [to](std::size_t bytes) { return placement::allocate_node(to, bytes); };
  if (!old.at->is_border()) {
    auto& from = *static_cast<interior*>(old.at);
    auto* const made = ::new (memory(sizeof(interior))) interior(version::kLocked | root);
    from.state.mark_deleted();
    copy_contents(from, *made);
    old.put(made);
    made->state.unlock();
    return made;
  }
  auto& from = *static_cast<border*>(old.at);
  auto* const made =
      ::new (memory(border::size_of(from.capacity))) border(version::kLocked | root, from.capacity);
  from.state.mark_deleted();
  border_copy copy(from, *made, to, moves);
  old.put(made);
  copy.settle();
  made->state.unlock();
  return made;
}

/// Locks the node that a path ends in, and what leads to it: from left to right, then upwards.
bool lock_below(node_locks& held, linked_node& n, interior* parent) noexcept {
  auto* const at = n.at->is_border() ? static_cast<border*>(n.at) : nullptr;
  if (at && (n.before = at->previous.load_acquire())) {
    if (!held.lock(n.before) || n.before->next.load_relaxed() != at) return false;
  }
  if (!held.lock(n.at)) return false;
  n.parent = lock_parent(n.at);
  if (n.parent) held.add(n.parent);
  return n.parent == parent;
}

/// The node at place `i` of a path.
node* node_at(std::span<void* const> nodes, std::size_t i) noexcept {
  return static_cast<node*>(nodes[i]);
}

/// Locks the last node of `nodes` and what leads to it, and replaces it.
relocated replace_last(base::atomic<link>& first, std::span<void* const> nodes, tier to,
                       const leaf_moves& moves) {
  const std::size_t last = nodes.size() - 1;
  std::size_t top = last;  // of its layer
  while (top > 0 && !node_at(nodes, top - 1)->is_border()) --top;
  border* const upper = top > 0 ? static_cast<border*>(node_at(nodes, top - 1)) : nullptr;
  node_locks held;
  if (upper && !held.lock(upper)) return {};
  base::atomic<link>* where = &first;
  if (upper) where = link_to_layer(upper, node_at(nodes, top));
  if (!where || (!upper && !leads_to(first, node_at(nodes, top)))) return {};
  linked_node n{.at = node_at(nodes, last)};
  const node* above = upper;
  if (top == last) {
    n.where = where;
    if (!held.lock(n.at) || !n.at->state.now().is_root()) return {};
  } else {
    if (!lock_below(held, n, static_cast<interior*>(node_at(nodes, last - 1)))) return {};
    above = n.parent;
  }
  if (to == tier::fast && placement::is_slow(above)) return {relocation_result::parent_is_slow};
  if (to == tier::slow && covers_fast(n.at)) return {relocation_result::covers_fast_node};
  return {relocation_result::done, replace(n, to, moves)};
}

}  // namespace

/// All links to a layer lead to its present top, or to a node that was the top once: its leftmost
/// nodes. A relocation therefore locks the node that leads to the layer, and brings its link up to
/// date. The link never leads down again: climb() puts a higher top in the place of the one that
/// it has read, and no other. Links in slots that are not live, or in nodes that have left the
/// tree, may still lead to the node; a scope that reads one has found it before the node was
/// retired. A search that read the link earlier may climb from the node that has gone: its parent
/// does not change any more, and was retired later than it, if at all.
relocated relocate(base::atomic<link>& first, std::span<void* const> nodes, tier to,
                   const leaf_moves& moves) {
  const relocated moved = replace_last(first, nodes, to, moves);
  if (moved.result == relocation_result::done) placement::retire_node(nodes.back());
  return moved;
}

}  // namespace masstree_detail

using placement::leaf_visitor, placement::relocated, placement::tier;

template bool masstree<placed<managed>>::visit_leaves(const scope&, std::string&,
                                                      const leaf_visitor&);
template bool masstree<placed<unmanaged>>::visit_leaves(const scope&, std::string&,
                                                        const leaf_visitor&);
template relocated masstree<placed<managed>>::relocate(const scope&, std::span<void* const>, tier);
template relocated masstree<placed<unmanaged>>::relocate(const scope&, std::span<void* const>,
                                                         tier);

}  // namespace isotherm::index
