// Downward scans of lists that are linked upwards only. A search for the bound finds a node some
// places before it, on a level above the bottom. From that node the bottom level is followed up to
// the bound, and the nodes gathered are visited in reverse. That node is then the next bound: one
// search serves about sixteen nodes.
#pragma once

#include <optional>
#include <vector>

#include "index/index.hpp"
#include "index/skip/node.hpp"
#include "index/walk_cursors.hpp"

namespace isotherm::index::skip_detail {

inline constexpr unsigned kBackLevel = 2;  // on this level nodes are 4^2 apart on average

/// Appends the nodes from `start` (without it if it is the head) up to the key `last`. This does
/// not count as a use of them, because the visitor may end the scan before them. `next(node)` is
/// the next node on the bottom level.
template <class Node, class Next>
void gather(access& inside, Node* head, Node* start, const wanted_key& last, bound kind,
            std::vector<Node*>& out, Next next) {
  for (Node* n = start == head ? next(head) : start; n; n = next(n)) {
    const auto order = n->compare(inside, last, reading::peek);
    if (order > 0 || (order == 0 && kind == bound::exclusive)) return;
    out.push_back(n);
  }
}

/// any_index::scan_back(). `gather_piece(last, kind, out)` appends nodes in ascending order,
/// up to the key `last`, and returns the first of them, or the head when none are left before them.
/// `is_present(node)` is asked just before a node is visited.
template <class Node, class Gather, class IsPresent>
void scan_back(access& inside, const Node* head, std::optional<std::string_view> from,
               const visitor& visit, Gather gather_piece, IsPresent is_present) {
  std::vector<Node*> piece;
  wanted_key last = from ? wanted_key(*from) : wanted_key::end();
  for (bound kind = bound::inclusive;; kind = bound::exclusive) {
    piece.clear();
    const Node* start = gather_piece(last, kind, piece);
    for (auto it = piece.rbegin(); it != piece.rend(); ++it) {
      Node* n = *it;
      const auto value = read(n->value, inside);  // nullopt: erased, or lost
      if (inside.has_lost()) return;
      if (!value || !is_present(n)) continue;
      const auto key = read(n->key, inside);
      if (!key || !visit(*key, *value)) return;
    }
    if (start == head) return;
    const auto key = read(start->key, inside);
    if (!key) return;
    last = wanted_key(*key);
  }
}

}  // namespace isotherm::index::skip_detail
