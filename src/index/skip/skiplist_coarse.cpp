#include "index/skip/skiplist_coarse.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

namespace skip_detail {

template <class Storage>
auto plain_list<Storage>::find(access& inside, std::string_view key) -> entry* {
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

template <class Storage>
auto plain_list<Storage>::locate(access& inside, const wanted_key& key, reading how) -> position {
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

template <class Storage>
bool plain_list<Storage>::attach(access&, const position& p, std::string_view, entry* n) noexcept {
  for (unsigned l = 0; l < n->height; ++l) {
    n->set_next(l, p.before[l]->next_node(l));
    p.before[l]->set_next(l, n);
  }
  return true;
}

template <class Storage>
void plain_list<Storage>::detach(access&, const position& p, std::string_view) {
  entry* const n = p.found;
  for (unsigned l = 0; l < n->height; ++l) p.before[l]->set_next(l, n->next_node(l));
  retire_node<Storage>(n);
}

template <class Storage>
auto plain_list<Storage>::cut() noexcept -> entry* {
  entry* const first = head_->next_node(0);
  for (unsigned l = 0; l < kMaxHeight; ++l) head_->set_next(l, nullptr);
  return first;
}

template <class Storage>
std::int64_t plain_list<Storage>::retire_cut(entry* n) {
  std::int64_t count = 0;
  for (; n; ++count) retire_node<Storage>(std::exchange(n, n->next_node(0)));
  return count;
}

}  // namespace skip_detail

template <class Storage>
template <class Visit>
void skiplist_coarse<Storage>::go_up(access& inside, const scan_start& from, reading how,
                                     const Visit& visit) {
  std::vector<node*> piece;
  node* last = nullptr;  // node gathered last
  do {
    piece.clear();
    {
      const std::shared_lock guard(lock_);
      if (!last) {
        const auto at = core_.locate(inside, wanted_key(from.key), how);
        last = at.found && from.kind == bound::exclusive ? at.found : at.before[0];
      }
      while ((last = last->next_node(0))) {
        piece.push_back(last);
        if (piece.size() == kPieceNodes) break;
      }
    }
    for (node* n : piece) {
      if (!visit(read(n->key, inside, how), read_value(n->value, inside, how))) return;
    }
  } while (last);
}

template class skiplist_coarse<managed>;
template class skiplist_coarse<unmanaged>;
template std::unique_ptr<any_index> make_adapter<skiplist_coarse>(management, std::size_t);

}  // namespace isotherm::index
