#include "index/masstree/layer.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/check.hpp"
#include "sync/retire.hpp"

namespace isotherm::index::masstree_detail {

// --- nodes -------------------------------------------------------------------------------------

void border::insert(wanted sought, link target) noexcept {
  const permutation now = order();
  const permutation next_order = now.inserted(place_of(now, sought));
  const unsigned slot = now[now.count()];
  if (link_at(slot).load_relaxed() != 0) state.mark_inserting();
  fill(slot, sought, target);
  set_order(next_order);
}

void interior::insert(unsigned place, std::uint64_t separator, node* right) noexcept {
  const unsigned n = count.load_relaxed();
  for (unsigned i = n; i > place; --i) {
    slices[i].store_release(slices[i - 1].load_relaxed());
    children[i + 1].store_release(children[i].load_relaxed());
  }
  slices[place].store_release(separator);
  children[place + 1].store_release(right);
  count.store_release(n + 1);
}

void interior::remove(unsigned place) noexcept {
  const unsigned n = count.load_relaxed();
  // If the first child goes, its right neighbour's range begins earlier; if another child goes, its
  // left neighbour's range ends later.
  for (unsigned i = place > 0 ? place - 1 : 0; i + 1 < n; ++i) {
    slices[i].store_release(slices[i + 1].load_relaxed());
  }
  for (unsigned i = place; i < n; ++i) children[i].store_release(children[i + 1].load_relaxed());
  slices[n - 1].store_release(~std::uint64_t{0});
  count.store_release(n - 1);
}

// --- splits ------------------------------------------------------------------------------------

namespace {

struct entry {
  wanted sought{0, 0};
  link target = 0;
};

/// The place nearest to `ideal` that separates two slices. There is one, because a slice has at
/// most ten entries.
unsigned parting(const entry (&all)[kSlots + 1], unsigned ideal) noexcept {
  const auto parts = [&](unsigned at) { return all[at - 1].sought.slice != all[at].sought.slice; };
  for (unsigned distance = 0; distance < kSlots; ++distance) {
    if (ideal > distance && parts(ideal - distance)) return ideal - distance;
    if (ideal + distance <= kSlots && parts(ideal + distance)) return ideal + distance;
  }
  ISO_CHECK(false, "a border node holds entries of one slice only");
  return ideal;
}

/// The level of both halves of a locked node at `level` that splits: a layer's top gets a new node
/// above its halves.
unsigned level_of_halves(const node* n, unsigned level) noexcept {
  return n->state.now().is_root() ? level + 1 : level;
}

/// Returns the top of a fast layer among those to which entries lead, or null.
const void* fast_layer(std::span<const entry> entries) noexcept {
  for (const entry& each : entries) {
    if (is_leaf(each.target)) continue;
    if (const node* const top = present_top(each.target); placement::is_fast(top)) return top;
  }
  return nullptr;
}

/// Copies the fast leaves of entries that go to a slow node. `before` gets the links as they were.
void bring_leaves_to(const border* at, std::span<entry> entries, std::span<link> before,
                     const node_memory& memory) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    before[i] = entries[i].target;
    if (!placement::is_slow(at) || !is_leaf(before[i])) continue;
    if (placement::is_fast(leaf_address(before[i]))) {
      entries[i].target = memory.moves->copy(before[i], placement::tier::slow);
    }
  }
}

void settle_leaves(std::span<const entry> entries, std::span<const link> before,
                   const node_memory& memory) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].target != before[i]) memory.moves->settle(before[i], entries[i].target);
  }
}

/// Moves the upper part of a full node, the new entry counted in, to a new node on its right. Both
/// are locked and marked.
border* split_border(border* left, wanted sought, link target, const node_memory& memory,
                     unsigned level) {
  left->state.mark_splitting();
  const permutation order = left->order();
  const unsigned place = left->place_of(order, sought);
  entry all[kSlots + 1];
  for (unsigned i = 0; i < kSlots; ++i) {
    all[i + (i >= place)] = {left->entry(order[i]), left->link_at(order[i]).load_acquire()};
  }
  all[place] = {sought, target};
  // Keys that arrive in order fill their nodes (4.6.2): only the new one goes to the next node.
  border* const after = left->next.load_relaxed();
  const unsigned at = parting(all, place == kSlots && !after ? kSlots : (kSlots + 1) / 2);
  const std::span<entry> moved(all + at, all + kSlots + 1);
  auto* right =
      memory.make_border(version::kLocked | version::kSplitting, kSlots,
                         place_of_part(left, level_of_halves(left, level), fast_layer(moved)));
  link before[kSlots + 1];
  bring_leaves_to(right, moved, before, memory);
  for (unsigned i = 0; i < moved.size(); ++i) right->fill(i, moved[i].sought, moved[i].target);
  right->set_order(permutation(kSlots + 1 - at));
  left->set_order(order.truncated(place < at ? at - 1 : at));
  if (place < at) left->insert(sought, target);
  right->next.store_release(after);
  right->previous.store_release(left);
  if (after) after->previous.store_release(right);
  left->next.store_release(right);
  settle_leaves(moved, before, memory);
  return right;
}

/// Splits an interior node like split_border(): `child` goes behind the child at `place`.
/// `separator` is where `child`'s range begins and, on return, where the new node's range does.
interior* split_interior(interior* left, unsigned place, std::uint64_t& separator, node* child,
                         const node_memory& memory, unsigned level) {
  left->state.mark_splitting();
  std::uint64_t slices[kSlots + 1];
  node* children[kSlots + 2];
  for (unsigned i = 0; i < kSlots; ++i) {
    slices[i + (i >= place)] = left->slices[i].load_relaxed();
  }
  for (unsigned i = 0; i <= kSlots; ++i) {
    children[i + (i > place)] = left->children[i].load_relaxed();
  }
  slices[place] = separator;
  children[place + 1] = child;
  const unsigned at = place == kSlots ? kSlots - 1 : (kSlots + 1) / 2;
  const std::span<node* const> moved(children + at + 1, children + kSlots + 2);
  const auto fast = std::ranges::find_if(moved, placement::is_fast);
  auto* right = memory.make_interior(
      version::kLocked | version::kSplitting,
      place_of_part(left, level_of_halves(left, level), fast != moved.end() ? *fast : nullptr));
  for (unsigned i = at + 1; i <= kSlots; ++i) right->slices[i - at - 1].store_release(slices[i]);
  for (unsigned i = at + 1; i <= kSlots + 1; ++i) {
    right->children[i - at - 1].store_release(children[i]);
    parent_of(children[i]).store_release(right);
  }
  right->count.store_release(kSlots - at);
  for (unsigned i = 0; i < kSlots; ++i) {
    left->slices[i].store_release(i < at ? slices[i] : ~std::uint64_t{0});
  }
  for (unsigned i = 0; i <= at; ++i) left->children[i].store_release(children[i]);
  left->count.store_release(at);
  if (place < at) parent_of(child).store_release(left);
  separator = slices[at];
  return right;
}

void grow_root(node* left, node* right, std::uint64_t separator, const node_memory& memory,
               unsigned level) {
  auto* top = memory.make_interior(version::kRoot, place_of_part(left, level, left));
  top->children[0].store_release(left);
  top->children[1].store_release(right);
  top->slices[0].store_release(separator);
  top->count.store_release(1);
  parent_of(right).store_release(top);
  parent_of(left).store_release(top);
  left->state.clear_root();
}

/// Links `right`, which was split off from `left` at `level`, into the levels above, and unlocks
/// both.
void connect(node* left, node* right, std::uint64_t separator, const node_memory& memory,
             unsigned level) {
  for (;;) {
    interior* const parent = lock_parent(left);
    interior* beside = nullptr;
    if (!parent) {
      grow_root(left, right, separator, memory, level);
    } else if (const unsigned place = parent->place_of(left); !parent->is_full()) {
      parent->state.mark_inserting();
      parent_of(right).store_release(parent);
      parent->insert(place, separator, right);
      parent->state.unlock();
    } else {
      // The search counted the levels before it had a lock: the layer may have become higher since.
      level = level > 0 ? level - 1 : 0;
      beside = split_interior(parent, place, separator, right, memory, level);
    }
    left->state.unlock();
    right->state.unlock();
    if (!beside) return;
    left = parent;
    right = beside;
  }
}

}  // namespace

void insert_entry(border* at, wanted sought, link target, const node_memory& memory,
                  unsigned level) {
  if (!at->is_full(at->order())) {
    at->insert(sought, target);
    at->state.unlock();
    return;
  }
  ISO_ASSERT(at->capacity == kSlots, "a small border node is replaced before it overflows");
  border* const right = split_border(at, sought, target, memory, level);
  connect(at, right, right->entry(0).slice, memory, level);
}

// --- replacement and removal -------------------------------------------------------------------

namespace {

/// Locked nodes, each the parent of the one before. Never allocates: if memory ran out here the
/// nodes would stay locked, and readers would wait for ever.
class ancestry {
 public:
  explicit ancestry(node* first) noexcept { push_back(first); }
  void push_back(node* n) noexcept {
    ISO_CHECK(count_ < nodes_.size(), "a layer is higher than its slices allow");
    nodes_[count_++] = n;
  }
  node* back() const noexcept { return nodes_[count_ - 1]; }
  std::span<node* const> all() const noexcept { return {nodes_.data(), count_}; }

 private:
  // Each further level takes at least seven splits on the level below: there are never 7^32 nodes.
  static constexpr std::size_t kMostLevels = 32;
  std::array<node*, kMostLevels> nodes_;
  std::size_t count_ = 0;
};

/// Unlocks nodes that are marked as deleted, and retires them. No published link may lead to them
/// any more: their memory may be reclaimed at any time from now on, and would not be kept for a
/// scope that opens later and still finds them.
void unlock_and_retire(std::span<node* const> gone, const node_memory& memory) {
  for (node* each : gone) each->state.unlock();
  for (node* each : gone) sync::retire(each, memory.free);
}

/// Removes `n`, locked and marked, from the levels above, together with those of its ancestors that
/// have no other child, and retires them all.
void disconnect(node* n, const node_memory& memory) {
  ancestry line(n);
  interior* parent = nullptr;
  while ((parent = lock_parent(line.back())) && parent->count.load_relaxed() == 0) {
    parent->state.mark_deleted();
    line.push_back(parent);
  }
  ISO_CHECK(parent, "the leftmost node keeps the top from becoming empty");
  parent->state.mark_inserting();
  parent->remove(parent->place_of(line.back()));
  parent->state.unlock();
  unlock_and_retire(line.all(), memory);
}

}  // namespace

void grow_border(border* upper, wanted sought, border* small, const node_memory& memory,
                 unsigned level) {
  upper->state.lock();
  const unsigned slot = upper->find(upper->order(), sought);
  small->state.lock();
  const permutation order = small->order();
  if (upper->state.now().is_deleted() || slot == kNoSlot || !small->is_full(order) ||
      upper->link_at(slot).load_relaxed() != link_to(small)) {
    small->state.unlock();
    upper->state.unlock();
    return;
  }
  border* const large =
      memory.make_border(version::kRoot, small->capacity == kFewSlots ? kSomeSlots : kSlots,
                         place_of_part(small, level, small));
  for (unsigned i = 0; i < order.count(); ++i) {
    large->fill(i, small->entry(order[i]), small->link_at(order[i]).load_acquire());
  }
  large->set_order(permutation(order.count()));
  large->uses.set(small->uses.value());
  small->state.mark_deleted();
  upper->link_at(slot).store_release(link_to(large));
  upper->state.unlock();
  node* const gone[] = {small};
  unlock_and_retire(gone, memory);
}

removal remove_border(border* n, const node_memory& memory) {
  border* const before = n->previous.load_acquire();
  if (!before) return removal::useless;
  before->state.lock();
  if (before->state.now().is_deleted() || before->next.load_relaxed() != n) {
    before->state.unlock();
    return removal::changed;  // removed already, perhaps, or relocated
  }
  n->state.lock();
  if (n->order().count() != 0) {
    n->state.unlock();
    before->state.unlock();
    return removal::useless;
  }
  n->state.mark_deleted();
  border* const after = n->next.load_relaxed();
  before->next.store_release(after);
  if (after) after->previous.store_release(before);
  disconnect(n, memory);
  before->state.unlock();
  return removal::done;
}

removal remove_layer(border* upper, wanted sought, const node_memory& memory) {
  upper->state.lock();
  const permutation order = upper->order();
  const unsigned slot = upper->find(order, sought);
  const link target = slot == kNoSlot ? 0 : upper->link_at(slot).load_acquire();
  if (upper->state.now().is_deleted() || target == 0 || is_leaf(target)) {
    upper->state.unlock();
    return removal::changed;
  }
  version seen;
  node* n = climb(upper->link_at(slot), node_of(target), seen);
  while (!n->is_border()) n = static_cast<interior*>(n)->children[0].load_acquire();
  auto* const first = static_cast<border*>(n);
  first->state.lock();
  if (first->order().count() != 0 || first->next.load_relaxed()) {
    first->state.unlock();
    upper->state.unlock();
    return removal::useless;
  }
  // Nothing else is left in the layer, so that all writers above this node have finished.
  ancestry line(first);
  while (interior* const parent = lock_parent(line.back())) {
    ISO_CHECK(parent->count.load_relaxed() == 0, "a layer of one border node branches");
    line.push_back(parent);
  }
  // Marked before the entry is removed: a search that still finds these nodes starts again.
  for (node* each : line.all()) each->state.mark_deleted();
  upper->remove(upper->place_of(order, sought));
  upper->state.unlock();
  unlock_and_retire(line.all(), memory);
  return removal::done;
}

}  // namespace isotherm::index::masstree_detail
