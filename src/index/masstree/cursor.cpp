#include "index/masstree/cursor.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sync/step_hook.hpp"

namespace isotherm::index::masstree_detail {

void append_entry(std::string& path, const wanted& entry) {
  const std::uint64_t bytes = std::byteswap(entry.slice);
  char text[sizeof bytes];
  std::memcpy(text, &bytes, sizeof bytes);
  path.append(text, std::min<std::size_t>(entry.rank, sizeof bytes));
  if (entry.rank == kGoesOn) path.push_back('\0');
}

void cursor::seek(std::optional<std::string_view> from) {
  for (backoff wait;; wait()) {
    path_.clear();
    if (from ? try_seek(*from) : enter(top_, top_.load_acquire())) return;
  }
}

bool cursor::try_seek(std::string_view from) {
  base::atomic<link>* where = &top_;
  link top = top_.load_acquire();
  for (std::size_t depth = 0;;) {
    const wanted sought(from, depth);
    frame here{nullptr, version(), permutation(), 0};
    here.at = find_border(*where, top, sought.slice, here.seen);
    if (!here.at) return false;
    here.order = here.at->order();
    here.place = here.at->place_of(here.order, sought);
    const unsigned slot = here.at->find(here.order, sought);
    const link target = slot == kNoSlot ? 0 : here.at->link_at(slot).load_acquire();
    if (!here.is_believed()) continue;
    const bool is_layer = target != 0 && !is_leaf(target);
    // The entry equal to `from`: a leaf is still to be visited, in both directions; a layer is
    // entered now.
    if (target != 0 && is_up() == is_layer) ++here.place;
    path_.push_back(here);
    tell_of(here.at, is_layer ? arrival::further_down : arrival::here);
    if (!is_layer) {
      here.prefetch_targets(where_to_);
      return true;
    }
    where = &here.at->link_at(slot);
    top = target;
    depth += 8;
  }
}

/// Goes to the first border node, in the cursor's direction, of the layer whose top was read from
/// `where`. False: the layer was removed.
bool cursor::enter(base::atomic<link>& where, link top) {
  for (;;) {
    frame here{nullptr, version(), permutation(), 0};
    here.at = find_border(where, top, is_up() ? 0 : ~std::uint64_t{0}, here.seen);
    if (!here.at) return false;
    here.order = here.at->order();
    if (!here.is_believed()) continue;
    here.place = is_up() ? 0 : here.order.count();
    path_.push_back(here);
    tell_of(here.at);
    here.prefetch_targets(where_to_);
    return true;
  }
}

/// Goes on to the next border node, or out of the layer after its last. False: seek again.
bool cursor::go_to_neighbour() {
  frame& here = path_.back();
  border* const to = (is_up() ? here.at->next : here.at->previous).load_acquire();
  if (!to) {
    if (is_up() && !here.is_believed()) return false;
    path_.pop_back();
    return true;
  }
  sync::pause_at(sync::step::between_nodes, to);
  frame there{to, to->state.stable(), permutation(), 0};
  there.order = to->order();
  // Checked only after the order was read: once `here` is removed, keys of its range may come to
  // `to`, before or behind those that were there, and would be visited again.
  const bool is_beside = is_up() ? here.is_believed() : to->next.load_acquire() == here.at;
  if (there.seen.is_deleted() || !is_beside || !there.is_believed()) return false;
  there.place = is_up() ? 0 : there.order.count();
  here = there;
  tell_of(here.at);
  here.prefetch_targets(where_to_);
  return true;
}

std::optional<std::string> cursor::path() const {
  std::string path;
  for (const frame& each : path_) {
    const wanted entry = each.at->entry(each.order[each.place - 1]);
    if (!each.is_believed()) return std::nullopt;
    if (!path.empty()) path.pop_back();  // of an entry that leads to the next layer
    append_entry(path, entry);
  }
  return path;
}

std::optional<link> cursor::next() {
  while (!path_.empty()) {
    frame& here = path_.back();
    if (here.place == (is_up() ? here.order.count() : 0)) {
      if (!go_to_neighbour()) return std::nullopt;
      continue;
    }
    auto& where = here.at->link_at(here.order[is_up() ? here.place : here.place - 1]);
    const link target = where.load_acquire();
    if (!here.is_believed()) return std::nullopt;
    here.place += is_up() ? 1u : ~0u;
    if (is_leaf(target)) return target;
    if (!enter(where, target)) return std::nullopt;
  }
  return link{0};
}

}  // namespace isotherm::index::masstree_detail
