// Downward scans of lists that are linked upwards only. A search for the bound finds a node some
// places before it, on a level above the bottom. From that node the bottom level is followed up to
// the bound, and the nodes gathered are visited in reverse. The node that the search found is then
// the next bound: one search serves about sixteen nodes.
#pragma once

#include <optional>
#include <vector>

#include "index/index.hpp"
#include "index/skip/node.hpp"
#include "index/walk_cursors.hpp"

namespace isotherm::index::skip_detail {

inline constexpr unsigned kBackLevel = 2;  // on this level nodes are 4^2 apart on average

/// Base of a `Map`, which offers it go_up() (upward_scans), head(), next_of(node) on the bottom
/// level, is_present(node), which is asked just before a node is visited, and gather_before(last,
/// kind, out), which finds a node on kBackLevel before the key `last` and calls gather().
template <class Map, class Node>
class scans : public upward_scans<Map> {
 public:
  void scan_back(access& inside, std::optional<std::string_view> from, const visitor& visit) {
    std::vector<Node*> piece;
    wanted_key last = from ? wanted_key(*from) : wanted_key::end();
    for (bound kind = bound::inclusive;; kind = bound::exclusive) {
      piece.clear();
      const Node* const start = self().gather_before(inside, last, kind, piece);
      for (auto it = piece.rbegin(); it != piece.rend(); ++it) {
        Node* n = *it;
        const auto value = read(n->value, inside);  // nullopt: erased, or lost
        if (inside.has_lost()) return;
        if (!value || !Map::is_present(n)) continue;
        const auto key = read(n->key, inside);
        if (!key || !visit(*key, *value)) return;
      }
      if (start == self().head()) return;
      const auto key = read(start->key, inside);
      if (!key) return;
      last = wanted_key(*key);
    }
  }

 protected:
  /// Appends the nodes from `start` (without it if it is the head) up to the key `last`, and
  /// returns `start`. This does not count as a use of them, because the visitor may end the scan
  /// before them.
  Node* gather(access& inside, Node* start, const wanted_key& last, bound kind,
               std::vector<Node*>& out) {
    for (Node* n = start == self().head() ? Map::next_of(start) : start; n; n = Map::next_of(n)) {
      const auto order = n->compare(inside, last, reading::peek);
      if (order > 0 || (order == 0 && kind == bound::exclusive)) break;
      out.push_back(n);
    }
    return start;
  }

 private:
  Map& self() noexcept { return static_cast<Map&>(*this); }
};

}  // namespace isotherm::index::skip_detail
