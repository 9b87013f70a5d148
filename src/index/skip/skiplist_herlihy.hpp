// skiplist-herlihy: the lazy, optimistic skip list of Herlihy, Lev, Luchangco and Shavit, "A simple
// optimistic skiplist algorithm" (SIROCCO 2007).
//
// Writers search without locks, lock the nodes before the place, and check that nothing has changed
// there. A node is in the list from the moment when it is fully linked until it is marked. It is
// marked before it is unlinked, and keeps its links then, so that searches and scans that have come
// to it can go on. Locks are taken in descending order of keys (the node to be removed first, then
// the nodes before it, from the bottom level up), so that there is no deadlock.
#pragma once

#include <string>

#include "index/index.hpp"
#include "index/optimistic_writes.hpp"
#include "index/skip/node.hpp"
#include "index/skip/scans.hpp"

namespace isotherm::index {

/// A small lock, and the two changes of a node's state: it is fully linked, it is marked.
class lazy_state {
 public:
  void lock() noexcept { lock_.lock(); }
  void unlock() noexcept { lock_.unlock(); }
  bool is_marked() const noexcept { return is_marked_.load_acquire(); }
  void mark() noexcept { is_marked_.store_release(true); }
  bool is_linked() const noexcept { return is_linked_.load_acquire(); }
  void set_linked() noexcept { is_linked_.store_release(true); }

 private:
  base::spin_lock lock_;
  base::atomic<bool> is_marked_{false}, is_linked_{false};
};

/// Ordered by bytes. All operations but the scans and walk linearizable.
///
/// find() and the scans take no lock, wait for no thread and never start again; walk() only takes
/// the lock of its table of cursors. A writer waits for the locks of the nodes before its place,
/// and while another thread inserts or erases the same key. Scans, upwards and downwards, visit
/// keys strictly in order, each at most once; every key that is present throughout is visited, and
/// every pair visited was present at some moment of the scan.
template <class Storage>
class skiplist_herlihy
    : public optimistic_writes<skiplist_herlihy<Storage>, Storage,
                               skip_detail::node<Storage, lazy_state>>,
      public skip_detail::scans<skiplist_herlihy<Storage>, skip_detail::node<Storage, lazy_state>> {
  using node = skip_detail::node<Storage, lazy_state>;
  using wanted_key = skip_detail::wanted_key;
  using writes = optimistic_writes<skiplist_herlihy, Storage, node>;
  friend writes;
  friend upward_scans<skiplist_herlihy>;
  friend skip_detail::scans<skiplist_herlihy, node>;

 public:
  static constexpr std::string_view kName = "skiplist-herlihy";

  explicit skiplist_herlihy(std::size_t /*expected_keys*/, const Storage& storage = {})
      : writes(storage), head_(node::make_head(storage)) {
    head_->set_linked();
  }
  ~skiplist_herlihy() {
    for (node* n = head_; n;) destroy_node<Storage>(std::exchange(n, n->next_node(0)));
  }
  skiplist_herlihy(const skiplist_herlihy&) = delete;
  skiplist_herlihy& operator=(const skiplist_herlihy&) = delete;

  std::optional<std::string_view> find(access& inside, std::string_view key) {
    node* n = search(inside, wanted_key(key));
    if (!n || !is_present(n)) return std::nullopt;
    return read(n->value, inside);
  }

  void clear();
  bool is_valid();

 private:
  /// The neighbours of a key on each level, as a search saw them.
  struct position {
    node* before[skip_detail::kMaxHeight];
    node* after[skip_detail::kMaxHeight];
    node* found = nullptr;
  };
  /// Locks the distinct nodes before a place, from the bottom level up; the destructor unlocks
  /// them.
  class locked_place {
   public:
    locked_place(const position& where, unsigned height) noexcept : where_(where) {
      for (; locked_ < height; ++locked_) {
        if (is_new(locked_)) where_.before[locked_]->lock();
      }
    }
    ~locked_place() {
      while (locked_-- > 0) {
        if (is_new(locked_)) where_.before[locked_]->unlock();
      }
    }
    locked_place(const locked_place&) = delete;
    locked_place& operator=(const locked_place&) = delete;

   private:
    bool is_new(unsigned level) const noexcept {
      return level == 0 || where_.before[level] != where_.before[level - 1];
    }
    const position& where_;
    unsigned locked_ = 0;
  };

  static bool is_present(const node* n) noexcept { return n->is_linked() && !n->is_marked(); }

  node* search(access& inside, const wanted_key& key);
  void locate(access& inside, const wanted_key& key, position& where, reading how = reading::use);
  position locate(access& inside, std::string_view key);
  static node* found(access&, const position& p, std::string_view) noexcept { return p.found; }
  unlinked<Storage, node> make(const position&, std::string_view key, const content& value) {
    return node::make(this->storage_, key, value);
  }
  static bool try_lock(access&, const position& p, std::string_view) noexcept;
  static void unlock(const position& p) noexcept { p.found->unlock(); }
  static bool attach(access&, const position& where, std::string_view, node* created) noexcept;
  static bool try_unlink(const position& where, node* victim) noexcept;
  bool find_before(const node* n, position& where) noexcept;
  void detach(access& inside, position& where, std::string_view key);
  template <class Visit>
  void go_up(access& inside, const scan_start& from, reading how, const Visit& visit);
  node* head() const noexcept { return head_; }
  static node* next_of(node* n) noexcept { return n->next_node(0); }
  /// If a node that was passed is unlinked, its link still leads to every key behind it that has
  /// been present since.
  node* gather_before(access& inside, const wanted_key& last, bound kind, std::vector<node*>& out) {
    position where;
    locate(inside, last, where);
    return this->gather(inside, where.before[skip_detail::kBackLevel], last, kind, out);
  }

  node* const head_;
};

}  // namespace isotherm::index
