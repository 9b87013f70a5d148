// skiplist-fraser: the lock-free skip list of K. Fraser, "Practical lock-freedom" (UCAM-CL-TR-579,
// 2004), with the mark in the links as in Harris (DISC 2001).
//
// A key is erased when its node's value becomes null, so that all operations on one key synchronise
// on the value's pointer. Then the node's links are marked from the top level down, and searches of
// writers unlink marked nodes. A node is retired when its inserter has stopped linking it and its
// eraser has marked it: the later of the two unlinks it for good. Otherwise a node linked late on
// an upper level could be reached by scopes that open after it was retired. No level links two
// nodes of one key: the eraser's search would end at the first of them and not reach the erased
// one.
#pragma once

#include <string>

#include "index/index.hpp"
#include "index/lock_free_writes.hpp"
#include "index/skip/node.hpp"
#include "index/skip/scans.hpp"

namespace isotherm::index {

/// Whether a node's inserter and its eraser have finished.
struct progress_state {
  static constexpr std::uint8_t kLinked = 1, kErased = 2;
  base::atomic<std::uint8_t> progress{0};
};

/// Ordered by bytes. All operations but the scans and walk linearizable.
///
/// No operation waits for another thread: the algorithm is lock-free, and a search starts again
/// only where another operation has made progress. Around it, memory allocation, sync::retire() and
/// the table of walk() cursors take short locks (docs/indexes.md). Scans, upwards and downwards,
/// visit keys strictly in order, each at most once; every key that is present throughout is
/// visited, and every pair visited was present at some moment of the scan.
template <class Storage>
class skiplist_fraser : public lock_free_writes<skiplist_fraser<Storage>, Storage,
                                                skip_detail::node<Storage, progress_state>>,
                        public skip_detail::scans<skiplist_fraser<Storage>,
                                                  skip_detail::node<Storage, progress_state>> {
  using node = skip_detail::node<Storage, progress_state>;
  using wanted_key = skip_detail::wanted_key;
  using writes = lock_free_writes<skiplist_fraser, Storage, node>;
  friend writes;
  friend upward_scans<skiplist_fraser>;
  friend skip_detail::scans<skiplist_fraser, node>;
  using link = std::uintptr_t;

 public:
  static constexpr std::string_view kName = "skiplist-fraser";

  explicit skiplist_fraser(std::size_t /*expected_keys*/, const Storage& storage = {})
      : writes(storage), head_(node::make_head(storage)) {}
  ~skiplist_fraser() {
    for (node* n = head_; n;) destroy_node<Storage>(std::exchange(n, next_of(n, 0)));
  }
  skiplist_fraser(const skiplist_fraser&) = delete;
  skiplist_fraser& operator=(const skiplist_fraser&) = delete;

  std::optional<std::string_view> find(access& inside, std::string_view key);

  void clear();
  bool is_valid();

 private:
  using typename writes::unlinked_node;
  using writes::count_;
  static constexpr link kMark = 1;

  /// The neighbours of a key on each level; `found`: the node with the key on the bottom level.
  struct position {
    node* before[skip_detail::kMaxHeight];
    node* after[skip_detail::kMaxHeight];
    node* found = nullptr;
  };

  static node* node_of(link l) noexcept { return reinterpret_cast<node*>(l & ~kMark); }
  static link link_to(node* n) noexcept { return reinterpret_cast<link>(n); }
  static node* next_of(node* n, unsigned level) noexcept {
    return node_of(n->next(level).load_acquire());
  }
  static void mark(node* n) noexcept {
    for (unsigned l = n->height; l-- > 0;) n->next(l).fetch_or_acq_rel(kMark);
  }

  node* first_near(access& inside, const wanted_key& key, reading how = reading::use);
  void locate(access& inside, const wanted_key& key, position& where);
  bool try_locate(access& inside, const wanted_key& key, position& where);
  position locate(access& inside, std::string_view key) {
    position where;
    locate(inside, wanted_key(key), where);
    return where;
  }
  static node* found(const position& at) noexcept { return at.found; }
  unlinked_node make(const position&, std::string_view key, const content& value) {
    return node::make(this->storage_, key, value);
  }
  static void help(access&, const position& at, std::string_view) noexcept { mark(at.found); }
  bool attach(access& inside, position& where, std::string_view key, node* created);
  void link_above(access& inside, const wanted_key& key, position& where, node* n);
  void remove(access& inside, position& where, std::string_view key);
  void unlink_and_retire(const wanted_key& key, position& where, node* n);
  bool try_unlink(node* gone);
  template <class Visit>
  void go_up(access& inside, const scan_start& from, reading how, const Visit& visit);
  node* head() const noexcept { return head_; }
  static node* next_of(node* n) noexcept { return next_of(n, 0); }
  static bool is_present(const node*) noexcept { return true; }
  /// Nodes that locate() passes on a level are not marked there, and so are linked on all lower
  /// levels.
  node* gather_before(access& inside, const wanted_key& last, bound kind, std::vector<node*>& out) {
    position where;
    locate(inside, last, where);
    return this->gather(inside, where.before[skip_detail::kBackLevel], last, kind, out);
  }

  node* const head_;
};

}  // namespace isotherm::index
