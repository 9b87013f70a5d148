#include "index/masstree/check.hpp"

#include <optional>

#include "placement/node_memory.hpp"

namespace isotherm::index::masstree_detail {
namespace {

/// A node, and the bounds of the slices below it: low <= slice < high.
struct visit {
  node* at;
  interior* parent;
  std::uint64_t low;
  std::optional<std::uint64_t> high;

  bool admits(std::uint64_t slice) const noexcept {
    return slice >= low && (!high || slice < *high);
  }
};

bool is_at_rest(const visit& here) {
  const version v = here.at->state.now();
  return !v.is_dirty() && !v.is_deleted() && (v.word() & version::kLocked) == 0 &&
         v.is_root() == (here.parent == nullptr) &&
         parent_of(here.at).load_acquire() == here.parent &&
         !(placement::is_slow(here.parent) && placement::is_fast(here.at));
}

/// Also pushes the children on `rest`, the last one first.
bool is_valid_interior(const visit& here, std::vector<visit>& rest) {
  auto* const n = static_cast<interior*>(here.at);
  const unsigned count = n->count.load_acquire();
  if (count > kSlots) return false;
  for (unsigned i = 0; i < kSlots; ++i) {
    const std::uint64_t slice = n->slices[i].load_acquire();
    if (i >= count && slice != ~std::uint64_t{0}) return false;
    if (i < count && !here.admits(slice)) return false;
    if (i > 0 && i < count && slice <= n->slices[i - 1].load_acquire()) return false;
  }
  for (unsigned i = count + 1; i-- > 0;) {
    rest.push_back({n->children[i].load_acquire(), n,
                    i > 0 ? n->slices[i - 1].load_acquire() : here.low,
                    i < count ? std::optional(n->slices[i].load_acquire()) : here.high});
  }
  return true;
}

bool is_valid_entry(border& n, unsigned slot) {
  if (slot >= n.capacity) return false;
  const wanted sought = n.entry(slot);
  const link target = n.link_at(slot).load_acquire();
  if (sought.rank > kGoesOn || target == 0) return false;
  if (sought.rank < 8 && (sought.slice << (8 * sought.rank)) != 0)
    return false;  // zeros behind the end
  return is_leaf(target) || sought.rank == kGoesOn;
}

bool is_valid_border(const visit& here, const border* before) {
  auto& n = *static_cast<border*>(here.at);
  const permutation order = n.order();
  if (!order.is_valid() || n.previous.load_acquire() != before) return false;
  if (n.capacity != kSlots && here.parent) return false;
  if (before && (before->next.load_acquire() != &n || order.count() == 0)) return false;
  for (unsigned place = 0; place < order.count(); ++place) {
    if (!is_valid_entry(n, order[place])) return false;
    const wanted sought = n.entry(order[place]);
    if (!here.admits(sought.slice)) return false;
    if (place > 0 && sought <= n.entry(order[place - 1])) return false;
  }
  return true;
}

}  // namespace

bool is_valid_layer(node* top, std::vector<border*>& borders) {
  const border* before = nullptr;
  std::vector<visit> rest{{top, nullptr, 0, std::nullopt}};
  while (!rest.empty()) {
    const visit here = rest.back();
    rest.pop_back();
    if (!is_at_rest(here)) return false;
    if (!here.at->is_border()) {
      if (!is_valid_interior(here, rest)) return false;
      continue;
    }
    if (!is_valid_border(here, before)) return false;
    borders.push_back(static_cast<border*>(here.at));
    before = borders.back();
  }
  return before && !before->next.load_acquire();
}

}  // namespace isotherm::index::masstree_detail
