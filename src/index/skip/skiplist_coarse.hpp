// skiplist-coarse: a skip list (Pugh, CACM 1990) under one reader-writer lock: the baseline of the
// concurrent ones.
#pragma once

#include <shared_mutex>
#include <vector>

#include "index/gated.hpp"
#include "index/index.hpp"
#include "index/skip/backward.hpp"
#include "index/skip/node.hpp"
#include "index/walk_cursors.hpp"

namespace isotherm::index {

namespace skip_detail {

struct no_state {};

/// The list itself; its caller keeps writers apart from all others. What `gated` asks for.
template <class Holding>
class plain_list {
 public:
  using entry = node<Holding, no_state>;
  /// The last node before a key on each level, and the node with the key, or null.
  struct position {
    entry* before[kMaxHeight];
    entry* found;
  };

  plain_list() : head_(entry::make_head()) {}
  ~plain_list() {
    for (entry* n = head_; n;) destroy_node<Holding>(std::exchange(n, n->next_node(0)));
  }
  plain_list(const plain_list&) = delete;
  plain_list& operator=(const plain_list&) = delete;

  entry* head() const noexcept { return head_; }
  entry* find(const scope& inside, std::string_view key) {
    const wanted_key wanted(key);
    entry* at = head_;
    for (unsigned level = kMaxHeight; level-- > 0;) {
      for (entry* next = at->next_node(level); next; next = at->next_node(level)) {
        const auto order = next->compare(inside, wanted);
        if (order == 0) return next;
        if (order > 0) break;
        at = next;
      }
    }
    return nullptr;
  }
  position locate(const scope& inside, std::string_view key) {
    return locate(inside, wanted_key(key), regard::use);
  }
  position locate(const scope& inside, const wanted_key& key, regard how) {
    position p;
    entry* at = head_;
    for (unsigned level = kMaxHeight; level-- > 0;) {
      entry* next = at->next_node(level);
      while (next && next->compare(inside, key, how) < 0) next = (at = next)->next_node(level);
      p.before[level] = at;
    }
    entry* const next = at->next_node(0);
    p.found = next && next->compare(inside, key, how) == 0 ? next : nullptr;
    return p;
  }
  static entry* found(const scope&, const position& p, std::string_view) noexcept {
    return p.found;
  }
  static bool try_lock(const scope&, const position&, std::string_view) noexcept { return true; }
  static void unlock(const position&) noexcept {}
  static bool attach(const scope&, const position& p, std::string_view, entry* n) noexcept {
    for (unsigned l = 0; l < n->height; ++l) {
      n->set_next(l, p.before[l]->next_node(l));
      p.before[l]->set_next(l, n);
    }
    return true;
  }
  static void detach(const scope&, const position& p, std::string_view) {
    entry* const n = p.found;
    for (unsigned l = 0; l < n->height; ++l) p.before[l]->set_next(l, n->next_node(l));
    retire_node<Holding>(n);
  }
  entry* cut() noexcept {
    entry* const first = head_->next_node(0);
    for (unsigned l = 0; l < kMaxHeight; ++l) head_->set_next(l, nullptr);
    return first;
  }
  static std::int64_t retire_cut(entry* n) {
    std::int64_t count = 0;
    for (; n; ++count) retire_node<Holding>(std::exchange(n, n->next_node(0)));
    return count;
  }
  bool is_valid(std::size_t keys) {
    const scope inside;
    return are_levels_valid(inside, head_, keys, [](entry*) { return true; });
  }

 private:
  entry* const head_;
};

}  // namespace skip_detail

/// Ordered by bytes. All operations but the scans and walk linearizable.
///
/// A writer waits for all others. find(), the scans and walk() share the lock: they wait for a
/// writer, also for one that is waiting itself. Scans, upwards and downwards, visit keys strictly
/// in order, each at most once; every key that is there throughout is visited, and every pair
/// visited was there at some moment of the scan: up to 64 nodes upwards, some 16 downwards, at one
/// moment each. The visitor is called without the lock.
template <class Holding>
class skiplist_coarse : public gated<skip_detail::plain_list<Holding>, Holding, coarse_gate> {
  using writes = gated<skip_detail::plain_list<Holding>, Holding, coarse_gate>;
  using writes::core_;
  using writes::gate_;
  using node = typename skip_detail::plain_list<Holding>::entry;
  using wanted_key = skip_detail::wanted_key;

 public:
  static constexpr std::string_view kName = "skiplist-coarse";

  explicit skiplist_coarse(std::size_t /*expected_keys*/) {}

  void scan(const scope& inside, std::string_view from, const visitor& visit) {
    iterate(inside, from, false, regard::use, visit);
  }
  void scan_back(const scope& inside, std::optional<std::string_view> from, const visitor& visit) {
    skip_detail::scan_back(
        inside, core_.head(), from, visit,
        [&](const wanted_key& bound, bool or_equal, std::vector<node*>& out) {
          const std::shared_lock guard(gate_);
          node* const start =
              core_.locate(inside, bound, regard::use).before[skip_detail::kBackLevel];
          skip_detail::gather(inside, core_.head(), start, bound, or_equal, out,
                              [](node* n) { return n->next_node(0); });
          return start;
        },
        [](node*) { return true; });
  }
  std::uint64_t walk(const scope& inside, std::uint64_t cursor, const visitor& visit) {
    return walk_in_order(cursors_, cursor, visit,
                         [&](std::string_view from, bool beyond, const visitor& each) {
                           iterate(inside, from, beyond, regard::glance, each);
                         });
  }

 private:
  static constexpr std::size_t kPieceNodes = 64;

  /// Takes some nodes at a time under the lock and visits them outside of it. From a node that was
  /// unlinked meanwhile its own link still leads to every key beyond it that has been present
  /// since.
  void iterate(const scope& inside, std::string_view from, bool beyond, regard how,
               const visitor& visit);

  walk_cursors cursors_;
};

template <class Holding>
void skiplist_coarse<Holding>::iterate(const scope& inside, std::string_view from, bool beyond,
                                       regard how, const visitor& visit) {
  std::vector<node*> piece;
  node* last = nullptr;  // visited
  do {
    piece.clear();
    {
      const std::shared_lock guard(gate_);
      if (!last) {
        const auto at = core_.locate(inside, wanted_key(from), how);
        last = at.found && beyond ? at.found : at.before[0];
      }
      while ((last = last->next_node(0))) {
        piece.push_back(last);
        if (piece.size() == kPieceNodes) break;
      }
    }
    for (node* n : piece) {
      if (!visit(look(n->key, inside, how)->view(), look(n->value, inside, how)->view())) return;
    }
  } while (last);
}

}  // namespace isotherm::index
