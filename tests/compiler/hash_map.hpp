// A hash map as one writes it with pointers: buckets with locks, chains of nodes, values of their
// own. Its values become movable by the one mark in node, make() and discard() for new and delete,
// and std::exchange where a node hands its value over. It compiles with and without the plugin.
#pragma once

#include <cstdint>
#include <isotherm/compiler.hpp>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

struct account {
  std::uint64_t key;
  std::uint64_t number;
  std::uint64_t check;  ///< key ^ number
  char padding[72] = {};
};

class hash_map {
 public:
  explicit hash_map(std::size_t buckets) : buckets_(buckets) {}
  ~hash_map() {
    for (bucket& each : buckets_) {
      while (node* const gone = each.first) {
        each.first = gone->next;
        isotherm::discard(gone->value);
        delete gone;
      }
    }
  }

  /// Puts `number` there; false when `key` had none.
  bool put(std::uint64_t key, std::uint64_t number) {
    bucket& in = bucket_of(key);
    const std::unique_lock alone(in.lock);
    node* found = find(in, key);
    const bool is_new = found == nullptr;
    if (is_new) in.first = found = new node{in.first, key};
    account* const old = found->value;
    found->value = isotherm::make<account>(key, number, key ^ number);
    isotherm::discard(old);
    return !is_new;
  }
  /// The number of `key`; 0 when there is none, ~0 when what is there is not what was put there.
  std::uint64_t get(std::uint64_t key) {
    bucket& in = bucket_of(key);
    const std::shared_lock shared(in.lock);
    const node* const found = find(in, key);
    if (found == nullptr) return 0;
    const account& held = *found->value;
    return held.key == key && held.check == (key ^ held.number) ? held.number : ~std::uint64_t{0};
  }
  bool erase(std::uint64_t key) {
    bucket& in = bucket_of(key);
    const std::unique_lock alone(in.lock);
    for (node** link = &in.first; *link != nullptr; link = &(*link)->next) {
      if ((*link)->key != key) continue;
      node* const gone = *link;
      *link = gone->next;
      isotherm::discard(gone->value);
      delete gone;
      return true;
    }
    return false;
  }
  /// Exchanges what two keys of one bucket hold, which then is wrong for both; again: right.
  void swap_in_bucket(std::uint64_t key) {
    bucket& in = bucket_of(key);
    const std::unique_lock alone(in.lock);
    node* const one = in.first;
    if (one == nullptr || one->next == nullptr) return;
    std::swap(one->value, one->next->value);
    std::swap(one->value, one->next->value);
  }
  /// Sum of all numbers.
  std::uint64_t sum() {
    std::uint64_t all = 0;
    each([&](const account& held) { all += held.number; });
    return all;
  }

 private:
  struct node {
    node* next;
    std::uint64_t key;
    [[isotherm::guide]] account* value = nullptr;
  };
  struct bucket {
    std::shared_mutex lock;
    node* first = nullptr;
  };

  bucket& bucket_of(std::uint64_t key) { return buckets_[key % buckets_.size()]; }
  static node* find(const bucket& in, std::uint64_t key) {
    node* at = in.first;
    while (at != nullptr && at->key != key) at = at->next;
    return at;
  }
  template <class Visit>
  void each(Visit visit) {
    for (bucket& in : buckets_) {
      const std::shared_lock shared(in.lock);
      for (const node* at = in.first; at != nullptr; at = at->next) visit(*at->value);
    }
  }

  std::vector<bucket> buckets_;
};
