#include "index/hash/hash_chm.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

// --- locking -----------------------------------------------------------------------------------

/// Locks the bin whose word was `word` and which has a node. Holds nothing when the word has
/// changed or another thread has the lock.
template <class Storage>
auto hash_chm<Storage>::try_lock(bucket& where, std::uint64_t word) noexcept -> bin {
  node* head = table_of_nodes::first_of(word);
  if ((word & bucket::kMoving) || !head->try_lock()) return bin();
  bin held(&where, head);
  // A node's lock is that of the bin only while the node is the bin's first.
  return where.load() == word ? std::move(held) : bin();
}

template <class Storage>
auto hash_chm<Storage>::lock(std::uint64_t hash) noexcept -> bin {
  bucket_array* table = table_.load();
  for (backoff wait;;) {
    bucket& where = table->at(hash);
    const std::uint64_t word = where.load();
    if (word == bucket::kMoving) {
      this->help_growth();
      table = table->next.load_acquire();
      continue;
    }
    if (word == 0) return bin(&where, nullptr);
    if (bin held = try_lock(where, word)) return held;
    wait();
  }
}

template <class Storage>
void hash_chm<Storage>::clear() {
  access inside;
  table_.empty_buckets([&](bucket& where) {
    for (backoff wait;; wait()) {
      const std::uint64_t word = where.load();
      if (word == 0 || word == bucket::kMoving) return word == 0;
      const bin held = try_lock(where, word);
      if (!held) continue;
      where.store(0);
      std::int64_t removed = 0;
      for (node* n = held.first(); n; ++removed) {
        retire_node<Storage>(std::exchange(n, n->next()));
      }
      count_.add(-removed);
      return true;
    }
  });
}

// --- growing -----------------------------------------------------------------------------------

template <class Storage>
void hash_chm<Storage>::move_bucket(bucket_array& from, bucket_array& to,
                                    std::size_t index) noexcept {
  bucket& source = from.at(index);
  bin held;
  for (backoff wait; !held;) {
    const std::uint64_t word = source.load();
    if (word == 0) {
      if (source.compare_exchange(0, bucket::kMoving)) return;
    } else if (!(held = try_lock(source, word))) {
      wait();
    }
  }
  source.store(table_of_nodes::word_of(held.first()) | bucket::kMoving);
  const auto heads = table_of_nodes::split(held.first(), from.size());
  to.at(index).store(table_of_nodes::word_of(heads[0]));
  to.at(index + from.size()).store(table_of_nodes::word_of(heads[1]));
  source.store(bucket::kMoving);
}

template class hash_chm<managed>;
template class hash_chm<unmanaged>;
template std::unique_ptr<any_index> make_adapter<hash_chm>(management, std::size_t);

}  // namespace isotherm::index
