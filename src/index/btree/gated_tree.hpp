// A B+tree behind a gate (gated.hpp): what btree-occ and btree-coarse share.
#pragma once

#include <shared_mutex>

#include "index/btree/tree.hpp"
#include "index/gated.hpp"
#include "index/walk_cursors.hpp"

namespace isotherm::index::btree_detail {

/// Ordered by bytes. `Gate` is passed alone by writers, together by readers. All operations but the
/// scans and walk linearizable. Scans, upwards and downwards, visit keys strictly in order, each at
/// most once; every key that is there throughout is visited, and every pair visited was there at
/// some moment of the scan: those of one leaf at one moment, leaf by leaf. The visitor is called
/// outside of the gate.
template <class Holding, class Latch, class Gate>
class gated_tree : public gated<tree<Holding, Latch>, Holding, Gate> {
  using writes = gated<tree<Holding, Latch>, Holding, Gate>;
  using writes::core_;
  using writes::gate_;

 public:
  explicit gated_tree(std::size_t /*expected_keys: a tree needs no size*/) {}

  void scan(const scope& inside, std::string_view from, const visitor& visit) {
    go_up(inside, {from, true}, regard::use, visit);
  }
  void scan_back(const scope& inside, std::optional<std::string_view> from, const visitor& visit) {
    std::optional<bound> next;
    if (from) next = bound{*from, true};
    go(inside, regard::use, visit, [&](piece& out) {
      core_.collect_down(inside, next, out);
      if (out.fence) next = bound{out.fence->view(), false};
    });
  }
  std::uint64_t walk(const scope& inside, std::uint64_t cursor, const visitor& visit) {
    return walk_in_order(cursors_, cursor, visit,
                         [&](std::string_view from, bool beyond, const visitor& each) {
                           go_up(inside, {from, !beyond}, regard::glance, each);
                         });
  }

 private:
  using core = tree<Holding, Latch>;
  using bound = typename core::bound;
  using piece = typename core::piece;

  void go_up(const scope& inside, bound next, regard how, const visitor& visit) {
    go(inside, how, visit, [&](piece& out) {
      core_.collect_up(inside, next, how, out);
      if (out.fence) next = bound{out.fence->view(), true};
    });
  }
  /// Visits piece after piece; `collect` gets the next one.
  template <class Collect>
  void go(const scope& inside, regard how, const visitor& visit, Collect collect) {
    piece some;
    do {
      {
        const std::shared_lock guard(gate_);
        collect(some);
      }
      for (unsigned i = 0; i < some.count; ++i) {
        auto* e = some.entries[i];
        const std::string_view key = look(e->key, inside, how)->view();
        if (!visit(key, look(e->value, inside, how)->view())) return;
      }
    } while (some.fence);
  }

  walk_cursors cursors_;
};

}  // namespace isotherm::index::btree_detail
