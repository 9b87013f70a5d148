// skiplist-coarse: a skip list (Pugh, CACM 1990) under one reader-writer lock: the baseline of the
// concurrent ones.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <string>

#include "index/index.hpp"
#include "index/skip/backward.hpp"
#include "index/skip/node.hpp"
#include "index/walk_cursors.hpp"
#include "index/writer_first_lock.hpp"

namespace isotherm::index {

/// Ordered by bytes. All operations but the scans and walk linearizable.
///
/// A writer waits for all others. find(), the scans and walk() share the lock: they wait for a
/// writer, also for one that is waiting itself. Scans, upwards and downwards, visit keys strictly
/// in order, each at most once; every key that is there throughout is visited, and every pair
/// visited was there at some moment of the scan: up to 64 nodes upwards, some 16 downwards, at one
/// moment each. The visitor is called without the lock.
template <class Holding>
class skiplist_coarse {
  struct no_state {};
  using node = skip_detail::node<Holding, no_state>;
  using wanted_key = skip_detail::wanted_key;

 public:
  static constexpr std::string_view kName = "skiplist-coarse";

  explicit skiplist_coarse(std::size_t /*expected_keys*/) : head_(node::make_head()) {}
  ~skiplist_coarse() {
    for (node* n = head_; n;) destroy_node<Holding>(std::exchange(n, n->next_node(0)));
  }
  skiplist_coarse(const skiplist_coarse&) = delete;
  skiplist_coarse& operator=(const skiplist_coarse&) = delete;

  std::optional<std::string_view> find(const scope& inside, std::string_view key) {
    const std::shared_lock guard(lock_);
    node* n = search(inside, wanted_key(key), nullptr);
    if (!n) return std::nullopt;
    return n->value.get(inside)->view();
  }
  outcome insert(std::string_view key, std::string_view value) {
    return change(key, [&](const scope&, node* n) {
      return n ? decision{} : decision{action::write, value};
    });
  }
  outcome upsert(std::string_view key, std::string_view value) {
    return change(key, [&](const scope&, node*) { return decision{action::write, value}; });
  }
  bool erase(std::string_view key) {
    return change(key, [](const scope&, node*) { return decision{action::erase, {}}; }) ==
           outcome::done;
  }
  outcome update(std::string_view key, const updater& decide) {
    return change(key, [&](const scope& inside, node* n) {
      return n ? decide(n->value.get(inside)->view()) : decide(std::nullopt);
    });
  }

  void scan(const scope& inside, std::string_view from, const visitor& visit) {
    iterate(inside, from, false, regard::use, visit);
  }
  void scan_back(const scope& inside, std::optional<std::string_view> from, const visitor& visit) {
    skip_detail::scan_back(
        inside, head_, from, visit,
        [&](const wanted_key& bound, bool or_equal, std::vector<node*>& out) {
          const std::shared_lock guard(lock_);
          node* before[skip_detail::kMaxHeight];
          search(inside, bound, before);
          node* const start = before[skip_detail::kBackLevel];
          skip_detail::gather(inside, head_, start, bound, or_equal, out,
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
  std::size_t size() const noexcept {
    const std::shared_lock guard(lock_);
    return count_;
  }
  void clear();
  bool is_valid();

 private:
  static constexpr std::size_t kPieceNodes = 64;

  /// The node with the key, or null; `before` gets the last node before it on each level.
  node* search(const scope& inside, const wanted_key& key, node** before,
               regard how = regard::use) {
    node* at = head_;
    for (unsigned level = skip_detail::kMaxHeight; level-- > 0;) {
      node* next = at->next_node(level);
      while (next && next->compare(inside, key, how) < 0) next = (at = next)->next_node(level);
      if (before) before[level] = at;
      if (next && !before && next->compare(inside, key, how) == 0) return next;
    }
    node* found = at->next_node(0);
    return found && found->compare(inside, key, how) == 0 ? found : nullptr;
  }

  /// All writing operations: decides under the lock.
  template <class Decide>
  outcome change(std::string_view key, Decide decide) {
    const scope inside;
    node* before[skip_detail::kMaxHeight];
    const std::unique_lock guard(lock_);
    node* n = search(inside, wanted_key(key), before);
    const decision chosen = decide(inside, n);
    if (chosen.what == action::keep || (chosen.what == action::erase && !n)) {
      return outcome::unchanged;
    }
    if (chosen.what == action::erase) {
      for (unsigned l = 0; l < n->height; ++l) before[l]->set_next(l, n->next_node(l));
      --count_;
      retire_node<Holding>(n);
      return outcome::done;
    }
    if (n) {
      auto successor = Holding::make_successor(n->value, chosen.value);
      if (!successor) return outcome::no_memory;
      n->value.replace(inside, std::move(successor));
      return outcome::done;
    }
    node* fresh = node::make(key, chosen.value);
    if (!fresh) return outcome::no_memory;
    for (unsigned l = 0; l < fresh->height; ++l) {
      fresh->set_next(l, before[l]->next_node(l));
      before[l]->set_next(l, fresh);
    }
    ++count_;
    return outcome::done;
  }

  /// Takes some nodes at a time under the lock and visits them outside of it.
  void iterate(const scope& inside, std::string_view from, bool beyond, regard how,
               const visitor& visit);

  mutable writer_first_lock lock_;
  node* const head_;
  std::size_t count_ = 0;  // guarded by lock_
  walk_cursors cursors_;
};

template <class Holding>
void skiplist_coarse<Holding>::iterate(const scope& inside, std::string_view from, bool beyond,
                                       regard how, const visitor& visit) {
  std::vector<node*> piece;
  do {
    piece.clear();
    {
      const std::shared_lock guard(lock_);
      node* before[skip_detail::kMaxHeight];
      node* found = search(inside, wanted_key(from), before, how);
      node* n = found && beyond ? found->next_node(0) : before[0]->next_node(0);
      for (; n && piece.size() < kPieceNodes; n = n->next_node(0)) piece.push_back(n);
    }
    for (node* n : piece) {
      from = look(n->key, inside, how)->view();
      if (!visit(from, look(n->value, inside, how)->view())) return;
    }
    beyond = true;
  } while (piece.size() == kPieceNodes);
}

template <class Holding>
void skiplist_coarse<Holding>::clear() {
  const scope inside;
  node* n = nullptr;
  {
    const std::unique_lock guard(lock_);
    n = head_->next_node(0);
    for (unsigned l = 0; l < skip_detail::kMaxHeight; ++l) head_->set_next(l, nullptr);
    count_ = 0;
  }
  while (n) retire_node<Holding>(std::exchange(n, n->next_node(0)));
}

template <class Holding>
bool skiplist_coarse<Holding>::is_valid() {
  const scope inside;
  std::size_t nodes = 0;
  for (unsigned level = 0; level < skip_detail::kMaxHeight; ++level) {
    node* before = nullptr;
    for (node* n = head_->next_node(level); n; before = std::exchange(n, n->next_node(level))) {
      const std::string_view key = n->key.get(inside)->view();
      if (n->height <= level || n->start() != skip_detail::key_start(key)) return false;
      if (before && before->key.get(inside)->view() >= key) return false;
      nodes += level == 0;
    }
  }
  return nodes == size();
}

}  // namespace isotherm::index
