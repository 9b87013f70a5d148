// The scans of the B+trees, which take the keys of one leaf at a time.
#pragma once

#include <optional>
#include <string_view>

#include "index/index.hpp"
#include "index/storage.hpp"
#include "index/walk_cursors.hpp"

namespace isotherm::index::btree_detail {

/// Base of a `Map`, which offers it collect_up() and collect_down() of `Tree` (tree.hpp).
///
/// Scans, upwards and downwards, visit keys strictly in order, each at most once; every key that is
/// present throughout is visited, and every pair visited was present at some moment of the scan:
/// the pairs of one leaf at one moment, leaf by leaf. The visitor is called without a lock.
template <class Map, class Tree>
class scans {
 public:
  void scan(const scope& inside, std::string_view from, const visitor& visit) {
    go_up(inside, {from}, access::use, visit);
  }
  void scan_back(const scope& inside, std::optional<std::string_view> from, const visitor& visit) {
    std::optional<scan_start> next;
    if (from) next = scan_start{*from};
    go(inside, access::use, visit, [&](piece& out) {
      self().collect_down(inside, next, out);
      if (out.fence) next = scan_start{out.fence->view(), bound::exclusive};
    });
  }
  std::uint64_t walk(const scope& inside, std::uint64_t cursor, const visitor& visit) {
    return walk_in_order(cursors_, cursor, visit, [&](const scan_start& from, const visitor& each) {
      go_up(inside, from, access::peek, each);
    });
  }

 private:
  using piece = typename Tree::piece;

  Map& self() noexcept { return static_cast<Map&>(*this); }
  void go_up(const scope& inside, scan_start next, access how, const visitor& visit) {
    go(inside, how, visit, [&](piece& out) {
      self().collect_up(inside, next, how, out);
      if (out.fence) next = scan_start{out.fence->view()};
    });
  }
  /// Visits piece after piece; `collect` gets the next one.
  template <class Collect>
  void go(const scope& inside, access how, const visitor& visit, Collect collect) {
    piece some;
    do {
      collect(some);
      for (unsigned i = 0; i < some.count; ++i) {
        auto* e = some.entries[i];
        const std::string_view key = read(e->key, inside, how)->view();
        if (!visit(key, read_value(e->value, inside, how)->view())) return;
      }
    } while (some.fence);
  }

  walk_cursors cursors_;
};

}  // namespace isotherm::index::btree_detail
