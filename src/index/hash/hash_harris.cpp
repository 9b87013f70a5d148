#include "index/hash/hash_harris.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

template <class Storage>
hash_harris<Storage>::~hash_harris() {
  for (place* p = next_of(&first_); p;) {
    place* const gone = std::exchange(p, next_of(p));
    if (is_node(gone)) {
      destroy_node<Storage>(static_cast<node*>(gone));
    } else {
      destroy_node<Storage>(gone);
    }
  }
  for (auto& segment : segments_) {
    if (bucket* slots = segment.load_acquire()) Storage::deallocate_node(slots);
  }
}

// --- buckets -----------------------------------------------------------------------------------

/// Segment s > 0 holds buckets 2^(s-1) .. 2^s - 1, so that growing moves nothing.
template <class Storage>
bucket& hash_harris<Storage>::bucket_slot(std::uint64_t index) {
  const auto segment = static_cast<unsigned>(std::bit_width(index));
  const std::uint64_t size = segment == 0 ? 1 : std::uint64_t{1} << (segment - 1);
  auto* slots = segments_[segment].load_acquire();
  if (!slots) [[unlikely]] {
    auto* created = static_cast<bucket*>(storage_.allocate_zeroed(size * sizeof(bucket)));
    if (segments_[segment].compare_exchange_acq_rel(slots, created)) {
      slots = created;
    } else {
      Storage::deallocate_node(created);
    }
  }
  return slots[index & (size - 1)];
}

template <class Storage>
auto hash_harris<Storage>::start_of(access& inside, std::uint64_t hash) -> place* {
  const std::uint64_t index = hash & (bucket_count_.load_acquire() - 1);
  place* start = bucket_start(index);
  return start ? start : make_bucket(inside, index);
}

/// Puts the bucket's shortcut into the list. The search for its place begins at the shortcut of the
/// bucket from which this one splits.
template <class Storage>
auto hash_harris<Storage>::make_bucket(access& inside, std::uint64_t index) -> place* {
  const std::uint64_t parent = index & ~std::bit_floor(index);
  place* start = bucket_start(parent);
  if (!start) start = make_bucket(inside, parent);
  unlinked<Storage, place> created(make_node<place>(storage_, {kBelowTable}, reverse_bits(index)));
  for (;;) {
    const position at = locate(inside, start, created->order, nullptr);
    place* made = at.at;
    if (!at.is_found) {
      created->next.store_relaxed(link_to(at.at));  // published by the compare-and-swap
      link expected = link_to(at.at);
      if (!at.before->compare_exchange_acq_rel(expected, link_to(created.get()))) continue;
      made = created.release();
    }
    bucket_slot(index).store(reinterpret_cast<std::uint64_t>(made));
    return made;
  }
}

// --- the list ----------------------------------------------------------------------------------

/// Finds the place and unlinks the marked nodes on the way (Michael's find). Each marked node is
/// unlinked by one successful compare-and-swap, hence retired once.
template <class Storage>
auto hash_harris<Storage>::locate(access& inside, place* start, std::uint64_t order,
                                  const std::string_view* key) -> position {
  for (;;) {
    position p;
    p.order = order;
    p.before = &start->next;
    link seen = p.before->load_acquire();
    for (;;) {
      if (seen & kMark) break;  // the node before is being unlinked: again from the start
      p.at = place_of(seen);
      if (!p.at || p.at->order > order) return p;
      const link next = p.at->next.load_acquire();
      if (next & kMark) {
        link expected = seen;
        if (!p.before->compare_exchange_acq_rel(expected, next & ~kMark)) break;
        retire_node<Storage>(p.found());
        seen = next & ~kMark;
        continue;
      }
      p.is_found =
          p.at->order == order && (key ? read(p.found()->key, inside) == *key : !is_node(p.at));
      if (p.is_found) return p;
      p.before = &p.at->next;
      seen = next;
    }
  }
}

template <class Storage>
bool hash_harris<Storage>::attach(access&, const position& at, std::string_view, node* created) {
  created->next.store_relaxed(link_to(at.at));  // published by the compare-and-swap
  link expected = link_to(at.at);
  if (!at.before->compare_exchange_acq_rel(expected, link_to(created))) return false;
  if (count_.add(1) % kInsertsPerLook == 0) {
    std::size_t buckets = bucket_count_.load_acquire();
    if (count_.sum() > buckets) bucket_count_.compare_exchange_acq_rel(buckets, buckets * 2);
  }
  return true;
}

/// Marks and unlinks a node whose value is null. Reads no key: a search for a shortcut of this
/// order finds none, and so passes all nodes of the order.
template <class Storage>
void hash_harris<Storage>::take_out(access& inside, node* gone) {
  gone->next.fetch_or_acq_rel(kMark);
  locate(inside, start_of(inside, reverse_bits(gone->order)), gone->order, nullptr);
}

// --- operations --------------------------------------------------------------------------------

template <class Storage>
std::optional<std::string_view> hash_harris<Storage>::find(access& inside, std::string_view key) {
  const std::uint64_t hash = hash_of(key), order = node_order(hash);
  place* p = start_of(inside, hash);
  while (p && p->order < order) p = next_of(p);
  for (; p && p->order == order; p = next_of(p)) {
    auto* n = static_cast<node*>(p);
    const bytes* held = n->key.get(inside);
    const bytes* value = n->value.get(inside);  // both fetched at once: the two cache misses
                                                // overlap
    prefetch(value);
    if (!held || held->view() != key) continue;
    // Null: lost, or erased. Another node of the same key is linked only after this one is
    // unlinked, which then happened during this search: there was a moment without the key.
    if (!value) return std::nullopt;
    return value->view();
  }
  return std::nullopt;
}

template <class Storage>
void hash_harris<Storage>::clear() {
  access inside;
  for (place* p = next_of(&first_); p; p = next_of(p)) {
    auto* const n = static_cast<node*>(p);
    if (!is_node(p) || !n->value.clear(inside)) continue;
    count_.add(-1);
    take_out(inside, n);
  }
}

// --- visiting ----------------------------------------------------------------------------------

/// Walks in split order, which growth does not change: the cursor is the order at which to go on.
template <class Storage>
std::uint64_t hash_harris<Storage>::walk(access& inside, std::uint64_t cursor,
                                         const pair_visitor& visit) {
  std::size_t visited = 0, passed = 0;
  std::uint64_t group = 0;  // nodes of one order are visited in one piece
  place* p = start_of(inside, reverse_bits(cursor));
  for (; p; p = next_of(p)) {
    if (p->order < cursor) continue;
    const bool is_enough = visited >= kPieceKeys || ++passed > kPiecePlaces;
    if (is_enough && p->order != group) return p->order;
    group = p->order;
    if (!is_node(p)) continue;
    auto* n = static_cast<node*>(p);
    const auto value = read_value(n->value, inside, reading::peek);
    if (!value && n->value.is_null()) continue;  // erased
    if (!visit(read(n->key, inside, reading::peek), value)) return p->order;
    ++visited;
  }
  return 0;
}

template <class Storage>
bool hash_harris<Storage>::is_valid() {
  access inside;
  std::size_t nodes = 0;
  std::uint64_t before = 0;
  for (place* p = next_of(&first_); p; p = next_of(p)) {
    if (p->order < before || (p->next.load_acquire() & kMark)) return false;
    before = p->order;
    if (!is_node(p)) continue;
    auto* n = static_cast<node*>(p);
    const auto key = read(n->key, inside);
    if (!key || n->value.is_null() || n->order != node_order(hash_of(*key))) return false;
    if (locate(inside, start_of(inside, hash_of(*key)), n->order, &*key).at != n) return false;
    ++nodes;
  }
  return nodes == this->size();
}

template class hash_harris<managed>;
template class hash_harris<unmanaged>;
template std::unique_ptr<any_index> make_adapter<hash_harris>(management, std::size_t);

}  // namespace isotherm::index
