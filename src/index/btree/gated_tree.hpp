// A B+tree behind a gate: what btree-occ (no gate) and btree-coarse (a reader-writer lock) share.
#pragma once

#include <mutex>
#include <shared_mutex>

#include "index/btree/tree.hpp"
#include "index/walk_cursors.hpp"

namespace isotherm::index::btree_detail {

/// A gate that is open to all.
struct open_gate {
  void lock() noexcept {}
  void unlock() noexcept {}
  void lock_shared() noexcept {}
  void unlock_shared() noexcept {}
};

/// Ordered by bytes. `Gate` is passed alone by writers, together by readers. All operations but the
/// scans and walk linearizable. Scans, upwards and downwards, visit keys strictly in order, each at
/// most once; every key that is there throughout is visited, and every pair visited was there at
/// some moment of the scan: those of one leaf at one moment, leaf by leaf. The visitor is called
/// outside of the gate.
template <class Holding, class Latch, class Gate>
class gated_tree {
 public:
  explicit gated_tree(std::size_t /*expected_keys: a tree needs no size*/) {}

  std::optional<std::string_view> find(const scope& inside, std::string_view key) {
    const std::shared_lock guard(gate_);
    return tree_.find(inside, key);
  }
  outcome insert(std::string_view key, std::string_view value) {
    const scope inside;  // closes, and reclaims, behind the gate
    const std::lock_guard guard(gate_);
    return tree_.insert(key, value);
  }
  outcome upsert(std::string_view key, std::string_view value) {
    const scope inside;  // closes, and reclaims, behind the gate
    const std::lock_guard guard(gate_);
    return tree_.upsert(key, value);
  }
  bool erase(std::string_view key) {
    const scope inside;  // closes, and reclaims, behind the gate
    const std::lock_guard guard(gate_);
    return tree_.erase(key);
  }
  outcome update(std::string_view key, const updater& decide) {
    const scope inside;  // closes, and reclaims, behind the gate
    const std::lock_guard guard(gate_);
    return tree_.update(key, decide);
  }
  void scan(const scope& inside, std::string_view from, const visitor& visit) {
    go_up(inside, {from, true}, regard::use, visit);
  }
  void scan_back(const scope& inside, std::optional<std::string_view> from, const visitor& visit) {
    std::optional<bound> next;
    if (from) next = bound{*from, true};
    go(inside, regard::use, visit, [&](piece& out) {
      tree_.collect_down(inside, next, out);
      if (out.fence) next = bound{out.fence->view(), false};
    });
  }
  std::uint64_t walk(const scope& inside, std::uint64_t cursor, const visitor& visit) {
    return walk_in_order(cursors_, cursor, visit,
                         [&](std::string_view from, bool beyond, const visitor& each) {
                           go_up(inside, {from, !beyond}, regard::glance, each);
                         });
  }
  std::size_t size() const noexcept { return tree_.size(); }
  void clear() {
    const scope inside;
    const std::lock_guard guard(gate_);
    tree_.clear();
  }
  bool is_valid() { return tree_.is_valid(); }

 private:
  using tree = btree_detail::tree<Holding, Latch>;
  using bound = typename tree::bound;
  using piece = typename tree::piece;

  void go_up(const scope& inside, bound next, regard how, const visitor& visit) {
    go(inside, how, visit, [&](piece& out) {
      tree_.collect_up(inside, next, how, out);
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

  tree tree_;
  walk_cursors cursors_;
  [[no_unique_address]] mutable Gate gate_;
};

}  // namespace isotherm::index::btree_detail
