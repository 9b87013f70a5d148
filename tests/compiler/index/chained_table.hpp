// A chained hash table as one writes it with plain pointers, behind the interface of the indexes.
// The one mark in node makes its values movable. The indexes' own tests run on it.
//
// Each bucket has a lock, under which an updater is called. The number of buckets never changes. A
// marked field points to objects of one size, so that a value has kMostBytes at most.
//
// Outside of namespace isotherm, in which isotherm-clang.so instruments nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <isotherm/compiler.hpp>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/check.hpp"
#include "index/index.hpp"

namespace chained {

using isotherm::index::action;
using isotherm::index::content;
using isotherm::index::outcome;
using isotherm::sync::scope;

inline constexpr std::size_t kMostBytes = 5008;

struct text {
  explicit text(const content& from) : size(from.size()) {
    ISO_CHECK(size <= kMostBytes, "a value is too long for this table");
    from.write(bytes);
  }
  std::string_view view() const { return {bytes, size}; }

  std::size_t size;
  char bytes[kMostBytes];
};

#ifdef CHAINED_TABLE_LACKS_A_SCOPE
/// Closes the scope that the plugin has opened, and that of the caller's access, for as long as it
/// lives. The recorder of histories must see that it is missing: CMakeLists.txt defines the macro
/// for that. The collector gets time to move the value, which it seldom has otherwise.
class without_scope {
 public:
  without_scope() {
    for (; scope::is_open(); ++closed_) isotherm_leave_scope();
    std::this_thread::yield();
  }
  ~without_scope() {
    for (; closed_ > 0; --closed_) isotherm_enter_scope();
  }
  without_scope(const without_scope&) = delete;
  without_scope& operator=(const without_scope&) = delete;

 private:
  int closed_ = 0;
};
#endif

class table final : public isotherm::index::any_index {
 public:
  static constexpr std::string_view kName = "chained-pointers";

  table() = default;
  ~table() override { clear(); }

  [[isotherm::inside]] std::optional<std::string_view> find(isotherm::access&,
                                                            std::string_view key) override {
    bucket& in = bucket_of(key);
    const std::shared_lock shared(in.lock);
    const node* const found = *link_of(in, key);
    if (found == nullptr) return std::nullopt;
    return found->value->view();
  }
  bool contains(isotherm::access&, std::string_view key) override {
    bucket& in = bucket_of(key);
    const std::shared_lock shared(in.lock);
    return *link_of(in, key) != nullptr;
  }
  outcome insert(isotherm::access&, std::string_view key, const content& value) override {
    bucket& in = bucket_of(key);
    const std::unique_lock alone(in.lock);
    if (*link_of(in, key) != nullptr) return outcome::unchanged;
    put(in, nullptr, key, value);
    return outcome::done;
  }
  outcome upsert(isotherm::access&, std::string_view key, const content& value) override {
    bucket& in = bucket_of(key);
    const std::unique_lock alone(in.lock);
    put(in, *link_of(in, key), key, value);
    return outcome::done;
  }
  bool erase(isotherm::access&, std::string_view key) override {
    bucket& in = bucket_of(key);
    const std::unique_lock alone(in.lock);
    node** const link = link_of(in, key);
    if (*link == nullptr) return false;
    remove(link);
    return true;
  }
  outcome update(isotherm::access&, std::string_view key,
                 const isotherm::index::updater& decide) override {
    bucket& in = bucket_of(key);
    const std::unique_lock alone(in.lock);
    node** const link = link_of(in, key);
    std::optional<std::string_view> current;
    if (*link != nullptr) current = (*link)->value->view();
#ifdef CHAINED_TABLE_LACKS_A_SCOPE
    const without_scope outside;
#endif
    const isotherm::index::decision chosen = decide(current);
    if (chosen.act == action::write) {
      put(in, *link, key, chosen.value);
      return outcome::done;
    }
    if (chosen.act == action::keep || *link == nullptr) return outcome::unchanged;
    remove(link);
    return outcome::done;
  }

  void scan(isotherm::access&, std::string_view, const isotherm::index::visitor&) override {}
  void scan_back(isotherm::access&, std::optional<std::string_view>,
                 const isotherm::index::visitor&) override {}
  bool is_ordered() const noexcept override { return false; }
  std::uint64_t walk(isotherm::access&, std::uint64_t cursor,
                     const isotherm::index::pair_visitor& visit) override {
    bucket& in = buckets_[cursor];
    const std::shared_lock shared(in.lock);
    for (const node* at = in.first; at != nullptr; at = at->next) {
      if (!visit(at->key, at->value->view())) break;
    }
    return (cursor + 1) % buckets_.size();
  }

  std::size_t size() const noexcept override { return count_.load(); }
  void clear() override {
    for (bucket& in : buckets_) {
      const std::unique_lock alone(in.lock);
      while (in.first != nullptr) remove(&in.first);
    }
  }
  std::string_view name() const noexcept override { return kName; }
  bool is_managed() const noexcept override { return true; }
  bool is_valid() override {
    std::size_t keys = 0;
    for (bucket& in : buckets_) {
      for (node** link = &in.first; *link != nullptr; link = &(*link)->next, ++keys) {
        if (&bucket_of((*link)->key) != &in || link_of(in, (*link)->key) != link) return false;
      }
    }
    return keys == size();
  }

 private:
  struct node {
    node* next;
    std::string key;
    [[isotherm::guide]] text* value = nullptr;
  };
  struct bucket {
    std::shared_mutex lock;
    node* first = nullptr;
  };

  bucket& bucket_of(std::string_view key) {
    return buckets_[std::hash<std::string_view>()(key) % buckets_.size()];
  }
  /// Returns the link to the node of `key`; the link at the chain's end when there is none.
  static node** link_of(bucket& in, std::string_view key) {
    node** link = &in.first;
    while (*link != nullptr && (*link)->key != key) link = &(*link)->next;
    return link;
  }
  /// `found`: the node of `key`; null when it has none.
  void put(bucket& in, node* found, std::string_view key, const content& value) {
    if (found == nullptr) {
      in.first = found = new node{in.first, std::string(key)};
      ++count_;
    }
    text* const old = found->value;
    found->value = isotherm::make<text>(value);
    isotherm::discard(old);
  }
  void remove(node** link) {
    node* const gone = *link;
    *link = gone->next;
    isotherm::discard(gone->value);
    delete gone;
    --count_;
  }

  std::array<bucket, 1024> buckets_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace chained
