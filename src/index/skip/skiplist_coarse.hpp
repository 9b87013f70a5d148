// skiplist-coarse: a skip list (Pugh, CACM 1990) under one reader-writer lock: the baseline of the
// concurrent skip lists.
#pragma once

#include <shared_mutex>
#include <vector>

#include "index/coarse.hpp"
#include "index/index.hpp"
#include "index/skip/node.hpp"
#include "index/skip/scans.hpp"

namespace isotherm::index {

namespace skip_detail {

struct no_state {};

/// The list without locks, as `coarse` asks for it: the caller keeps writers apart from all others.
template <class Storage>
class plain_list {
 public:
  using entry = node<Storage, no_state>;
  /// The last node before a key on each level, and the node with the key, or null.
  struct position {
    entry* before[kMaxHeight];
    entry* found;
  };

  explicit plain_list(const Storage& storage)
      : storage_(storage), head_(entry::make_head(storage)) {}
  ~plain_list() {
    for (entry* n = head_; n;) destroy_node<Storage>(std::exchange(n, n->next_node(0)));
  }
  plain_list(const plain_list&) = delete;
  plain_list& operator=(const plain_list&) = delete;

  entry* head() const noexcept { return head_; }
  entry* find(access& inside, std::string_view key);
  position locate(access& inside, std::string_view key) {
    return locate(inside, wanted_key(key), reading::use);
  }
  position locate(access& inside, const wanted_key& key, reading how);
  static entry* found(access&, const position& p, std::string_view) noexcept { return p.found; }
  unlinked<Storage, entry> make(const position&, std::string_view key, const content& value) {
    return entry::make(storage_, key, value);
  }
  static bool try_lock(access&, const position&, std::string_view) noexcept { return true; }
  static void unlock(const position&) noexcept {}
  static bool attach(access&, const position& p, std::string_view, entry* n) noexcept;
  static void detach(access&, const position& p, std::string_view);
  entry* cut() noexcept;
  static std::int64_t retire_cut(entry* n);
  bool is_valid(std::size_t keys) {
    access inside;
    return are_levels_valid(inside, head_, keys, [](entry*) { return true; });
  }

 private:
  [[no_unique_address]] const Storage storage_;
  entry* const head_;
};

}  // namespace skip_detail

/// Ordered by bytes. All operations but the scans and walk linearizable.
///
/// A writer waits for all others. find(), the scans and walk() share the lock: they wait for a
/// writer, also for one that has yet to get the lock. Scans, upwards and downwards, visit keys
/// strictly in order, each at most once; every key that is present throughout is visited, and every
/// pair visited was present at some moment of the scan: up to 64 nodes upwards, about 16 downwards,
/// are taken at one moment. The visitor is called without the lock.
template <class Storage>
class skiplist_coarse
    : public coarse<skip_detail::plain_list<Storage>, Storage>,
      public skip_detail::scans<skiplist_coarse<Storage>,
                                typename skip_detail::plain_list<Storage>::entry> {
  using writes = coarse<skip_detail::plain_list<Storage>, Storage>;
  using writes::core_;
  using writes::lock_;
  using node = typename skip_detail::plain_list<Storage>::entry;
  using wanted_key = skip_detail::wanted_key;
  friend upward_scans<skiplist_coarse>;
  friend skip_detail::scans<skiplist_coarse, node>;

 public:
  static constexpr std::string_view kName = "skiplist-coarse";

  explicit skiplist_coarse(std::size_t /*expected_keys*/, const Storage& storage = {})
      : writes(storage) {}

 private:
  static constexpr std::size_t kPieceNodes = 64;

  /// Takes some nodes at a time under the lock and visits them without it. If the last of them is
  /// unlinked meanwhile, its link still leads to every key behind it that has been present since.
  template <class Visit>
  void go_up(access& inside, const scan_start& from, reading how, const Visit& visit);
  node* head() const noexcept { return core_.head(); }
  static node* next_of(node* n) noexcept { return n->next_node(0); }
  static bool is_present(const node*) noexcept { return true; }
  node* gather_before(access& inside, const wanted_key& last, bound kind, std::vector<node*>& out) {
    const std::shared_lock guard(lock_);
    node* const start = core_.locate(inside, last, reading::use).before[skip_detail::kBackLevel];
    return this->gather(inside, start, last, kind, out);
  }
};

}  // namespace isotherm::index
