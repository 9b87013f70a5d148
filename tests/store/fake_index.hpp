// A correct and slow index: a map under a mutex. Values that it gave out stay valid, because
// replaced ones are kept until the end.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "index/index.hpp"

namespace isotherm::store::testing {

class fake_index final : public index::any_index {
 public:
  std::optional<std::string_view> find(access& inside, std::string_view key) override {
    inside.begin();
    if (before_find) before_find(key);
    ++values_read;
    const std::lock_guard lock(mutex_);
    if (throws_) throw std::bad_alloc();
    const auto at = map_.find(key);
    if (at == map_.end()) return std::nullopt;
    return *at->second;
  }
  bool contains(access& inside, std::string_view key) override {
    inside.begin();
    if (before_find) before_find(key);
    const std::lock_guard lock(mutex_);
    return map_.contains(key);
  }
  index::outcome insert(access& inside, std::string_view key,
                        const index::content& value) override {
    inside.begin();
    const std::lock_guard lock(mutex_);
    if (map_.contains(key)) return index::outcome::unchanged;
    return write(key, value);
  }
  index::outcome upsert(access& inside, std::string_view key,
                        const index::content& value) override {
    inside.begin();
    const std::lock_guard lock(mutex_);
    return write(key, value);
  }
  bool erase(access& inside, std::string_view key) override {
    inside.begin();
    if (key == unreadable || (keys_are_out && !inside.waits())) {
      inside.note(key == unreadable ? access::outcome::unreadable : access::outcome::missed);
      return false;
    }
    const std::lock_guard lock(mutex_);
    const auto at = map_.find(key);
    if (at == map_.end()) return false;
    map_.erase(at);
    return true;
  }
  index::outcome update(access& inside, std::string_view key,
                        const index::updater& decide) override {
    inside.begin();
    const std::lock_guard lock(mutex_);
    const auto at = map_.find(key);
    std::optional<std::string_view> current;
    if (at != map_.end()) current = *at->second;
    const auto decision = decide(current);
    if (decision.act == index::action::keep) return index::outcome::unchanged;
    if (decision.act == index::action::write) return write(key, decision.value);
    if (at != map_.end()) map_.erase(at);
    return index::outcome::done;
  }
  void scan(access&, std::string_view from, const index::visitor& visit) override {
    const std::lock_guard lock(mutex_);
    for (auto at = map_.lower_bound(from); at != map_.end(); ++at) {
      if (!visit(at->first, *at->second)) return;
    }
  }
  void scan_back(access&, std::optional<std::string_view> from,
                 const index::visitor& visit) override {
    const std::lock_guard lock(mutex_);
    auto at = from ? map_.upper_bound(*from) : map_.end();
    while (at != map_.begin()) {
      --at;
      if (!visit(at->first, *at->second)) return;
    }
  }
  bool is_ordered() const noexcept override { return true; }
  /// Pieces of up to five keys; the cursor is a position.
  std::uint64_t walk(access& inside, std::uint64_t cursor,
                     const index::pair_visitor& visit) override {
    inside.begin();
    const std::lock_guard lock(mutex_);
    if (cursor >= map_.size()) return 0;
    auto at = std::next(map_.begin(), static_cast<std::ptrdiff_t>(cursor));
    for (int i = 0; i < 5 && at != map_.end(); ++i, ++at, ++cursor) visit(at->first, *at->second);
    return at == map_.end() ? 0 : cursor;
  }
  std::size_t size() const noexcept override {
    const std::lock_guard lock(mutex_);
    return map_.size();
  }
  void clear() override {
    const std::lock_guard lock(mutex_);
    map_.clear();
  }
  std::string_view name() const noexcept override { return "fake"; }
  bool is_managed() const noexcept override { return false; }
  bool is_valid() override { return true; }

  /// Called at the begin of each look-up, without a lock of the index: where a cold page is read.
  std::function<void(std::string_view key)> before_find;

  /// A thread that removes a key has to wait for it, or leaves it.
  bool keys_are_out = false;
  /// A key that cannot be removed, as the disk does not give one on the way to it.
  std::string unreadable = "no key";

  /// How often a look-up has read the value as well.
  std::atomic<std::size_t> values_read{0};

  /// Called when a value is about to be copied into the index.
  std::function<void()> before_write;

  /// Values written so far.
  std::size_t writes() const {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }
  /// From now on writes answer no_memory.
  void fill_memory() {
    const std::lock_guard lock(mutex_);
    full_ = true;
  }
  /// From now on look-ups throw.
  void throw_from_now_on() {
    const std::lock_guard lock(mutex_);
    throws_ = true;
  }

 private:
  index::outcome write(std::string_view key, const index::content& value) {
    if (full_) return index::outcome::no_memory;
    if (before_write) before_write();
    value.write(values_.emplace_back(value.size(), '\0').data());
    map_.insert_or_assign(std::string(key), &values_.back());
    return index::outcome::done;
  }
  mutable std::mutex mutex_;
  std::deque<std::string> values_;
  std::map<std::string, const std::string*, std::less<>> map_;
  bool full_ = false, throws_ = false;
};

}  // namespace isotherm::store::testing
