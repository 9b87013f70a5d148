// Compiled three times: as it stands, with isotherm-clang.so, and with TABLE_BY_HAND, where the
// guide and its scopes are written out.
#include "lab/micro/compiler/table.hpp"

#include <utility>
#include <vector>
#ifdef TABLE_BY_HAND
#include <isotherm/guide.hpp>
#include <isotherm/scope.hpp>
#else
#include <isotherm/compiler.hpp>
#endif

namespace tables {

namespace {

struct account {
  explicit account(std::uint64_t key) : number(key) {}
  std::uint64_t number;
  std::uint64_t filling[7] = {};
};

struct node {
  node* next;
  std::uint64_t key;
#ifdef TABLE_BY_HAND
  isotherm::guide<account> value;
#else
  [[isotherm::guide]] account* value = nullptr;
#endif
};

}  // namespace

struct table {
  explicit table(std::size_t buckets) : buckets_(buckets) {}
  table(const table&) = delete;
  table& operator=(const table&) = delete;
  ~table() {
    for (node* first : buckets_) {
      while (node* const gone = first) {
        first = gone->next;
#ifndef TABLE_BY_HAND
        isotherm::discard(gone->value);
#endif
        delete gone;
      }
    }
  }

#ifdef TABLE_BY_HAND
  void put(std::uint64_t key) {
    const isotherm::scope inside;
    auto made = isotherm::make_object_in<account>(isotherm::heap::kind::newborn, key);
    if (!find_or_add(key)->value.replace(inside, std::move(made))) throw std::bad_alloc();
  }
  std::uint64_t get(std::uint64_t key) {
    const isotherm::scope inside;
    const node* const found = find(key);
    return found == nullptr ? 0 : found->value.get(inside)->number;
  }
#else
  void put(std::uint64_t key) {
    node* const found = find_or_add(key);
    account* const old = found->value;
    found->value = isotherm::make<account>(key);
    isotherm::discard(old);
  }
  std::uint64_t get(std::uint64_t key) {
    const node* const found = find(key);
    return found == nullptr ? 0 : found->value->number;
  }
#endif

 private:
  node* find(std::uint64_t key) const {
    node* at = buckets_[key % buckets_.size()];
    while (at != nullptr && at->key != key) at = at->next;
    return at;
  }

  node* find_or_add(std::uint64_t key) {
    if (node* const found = find(key)) return found;
    node*& first = buckets_[key % buckets_.size()];
    return first = new node{first, key, {}};
  }

  std::vector<node*> buckets_;
};

void table_deleter::operator()(table* made) const noexcept { delete made; }

table_pointer make_table(std::span<const std::uint64_t> keys) {
  table_pointer made(new table(keys.size()));
  for (const std::uint64_t key : keys) made->put(key);
  return made;
}

void put_all(table& into, std::span<const std::uint64_t> keys) {
  for (const std::uint64_t key : keys) into.put(key);
}

std::uint64_t sum_of(table& in, std::span<const std::uint64_t> keys) {
  std::uint64_t sum = 0;
  for (const std::uint64_t key : keys) sum += in.get(key);
  return sum;
}

}  // namespace tables
