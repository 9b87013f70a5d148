#include "index/hash/hash_pugh.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

// --- locking -----------------------------------------------------------------------------------

template <class Storage>
auto hash_pugh<Storage>::lock(std::uint64_t hash) noexcept -> chain_lock {
  bucket_array* table = table_.load();
  backoff wait;
  for (;;) {
    bucket& where = table->at(hash);
    const std::uint64_t word = where.load();
    if (word == bucket::kMoving) {
      table = table->next.load_acquire();
    } else if ((word & bucket::kLocked) || !where.compare_exchange(word, word | bucket::kLocked)) {
      wait();
    } else {
      return chain_lock(&where, first_of(word));
    }
  }
}

template <class Storage>
void hash_pugh<Storage>::clear() {
  access inside;
  table_.empty_buckets([&](bucket& where) {
    std::uint64_t word = 0;
    for (backoff wait;; wait()) {
      word = where.load();
      if (word == bucket::kMoving) return false;
      if (!(word & bucket::kLocked) && where.compare_exchange(word, 0)) break;
    }
    std::int64_t removed = 0;
    for (node* n = first_of(word); n; ++removed) {
      retire_node<Storage>(std::exchange(n, n->next()));
    }
    if (removed) count_.add(-removed);
    return true;
  });
}

// --- growing -----------------------------------------------------------------------------------

template <class Storage>
void hash_pugh<Storage>::move_bucket(bucket_array& from, bucket_array& to,
                                     std::size_t index) noexcept {
  bucket& source = from.at(index);
  backoff wait;
  std::uint64_t word = source.load();
  while ((word & bucket::kLocked) || !source.compare_exchange(word, word | bucket::kFlags)) {
    wait();
    word = source.load();
  }
  const auto heads = table_of_nodes::split(first_of(word), from.size());
  to.at(index).store(word_of(heads[0]));
  to.at(index + from.size()).store(word_of(heads[1]));
  source.store(bucket::kMoving);
}

template class hash_pugh<managed>;
template class hash_pugh<unmanaged>;
template std::unique_ptr<any_index> make_adapter<hash_pugh>(management, std::size_t);

}  // namespace isotherm::index
