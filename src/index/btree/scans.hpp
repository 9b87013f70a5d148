// The scans of the B+trees, which take the keys of one leaf at a time.
#pragma once

#include <optional>
#include <string_view>

#include "index/index.hpp"
#include "index/walk_cursors.hpp"

namespace isotherm::index::btree_detail {

/// Base of a `Map`, which offers it collect_up() and collect_down() of `Tree` (tree.hpp).
///
/// Scans, upwards and downwards, visit keys strictly in order, each at most once; every key that is
/// present throughout is visited, and every pair visited was present at some moment of the scan:
/// the pairs of one leaf at one moment, leaf by leaf. The visitor is called without a lock.
template <class Map, class Tree>
class scans : public upward_scans<Map> {
 public:
  void scan_back(access& inside, std::optional<std::string_view> from, const visitor& visit) {
    std::optional<scan_start> next;
    if (from) next = scan_start{*from};
    go(inside, reading::use, scanning(inside, visit), [&](piece& out) {
      self().collect_down(inside, next, out);
      if (out.fence) next = scan_start{out.fence->view(), bound::exclusive};
    });
  }

 private:
  friend upward_scans<Map>;
  using piece = typename Tree::piece;

  Map& self() noexcept { return static_cast<Map&>(*this); }
  template <class Visit>
  void go_up(access& inside, scan_start next, reading how, const Visit& visit) {
    go(inside, how, visit, [&](piece& out) {
      self().collect_up(inside, next, how, out);
      if (out.fence) next = scan_start{out.fence->view()};
    });
  }
  /// Visits piece after piece; `collect` gets the next one.
  template <class Visit, class Collect>
  void go(access& inside, reading how, const Visit& visit, Collect collect) {
    piece some;
    do {
      collect(some);
      for (unsigned i = 0; i < some.count; ++i) {
        auto* e = some.entries[i];
        const auto key = read(e->key, inside, how);
        if (!visit(key, read_value(e->value, inside, how))) return;
      }
    } while (some.fence);
  }
};

}  // namespace isotherm::index::btree_detail
