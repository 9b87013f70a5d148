// The common part of the coarse structures: one reader-writer lock around a structure that has no
// locks of its own.
//
// A writer searches under the shared lock, as readers do, decides and allocates without the lock,
// and then locks exclusively. If other writers have linked or unlinked something meanwhile, it
// searches again under the exclusive lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string_view>

#include "index/optimistic_writes.hpp"
#include "index/writer_first_lock.hpp"

namespace isotherm::index {

/// `Core` has what optimistic_writes asks for, with a member `found` in its positions, and:
///   find(inside, key)   the key's entry, or null
///   cut()               empties the structure; returns what retire_cut() retires and counts
///   is_valid(keys)      whether all is in order, and there are so many keys
template <class Core, class Storage>
class coarse : public optimistic_writes<coarse<Core, Storage>, Storage, typename Core::entry> {
  using writes = optimistic_writes<coarse, Storage, typename Core::entry>;
  friend writes;

 public:
  std::optional<std::string_view> find(access& inside, std::string_view key) {
    const std::shared_lock guard(lock_);
    const auto* found = core_.find(inside, key);
    if (!found) return std::nullopt;
    // An entry that is erased meanwhile keeps its last value.
    return read(found->value, inside);
  }
  /// Ends the process when memory is exhausted: an exception would leave nodes locked.
  void clear() noexcept {
    access inside;
    std::unique_lock guard(lock_);
    ++changes_;
    auto* const rest = core_.cut();
    guard.unlock();
    count_.add(-core_.retire_cut(rest));
  }
  bool is_valid() { return core_.is_valid(this->size()); }

 protected:
  explicit coarse(const Storage& storage) : writes(storage), core_(storage) {}

  writer_first_lock lock_;
  Core core_;

 private:
  using typename writes::entry;
  using writes::count_;

  struct position {
    typename Core::position at;
    std::uint64_t changes;
  };

  position locate(access& inside, std::string_view key) {
    const std::shared_lock guard(lock_);
    return {core_.locate(inside, key), changes_};
  }
  auto make(const position& p, std::string_view key, const content& value) {
    return core_.make(p.at, key, value);
  }
  static entry* found(access& inside, const position& p, std::string_view key) {
    return Core::found(inside, p.at, key);
  }
  /// For the holder of the exclusive lock: makes `p` what a search finds now. False if that is
  /// another entry than before, or if there is an entry only now, or was only before, or if a key
  /// on the way could not be had.
  bool renew(access& inside, position& p, std::string_view key) {
    if (changes_ == p.changes) return true;
    const entry* const before = p.at.found;
    p = {core_.locate(inside, key), changes_};
    return p.at.found == before && !Storage::has_lost(inside);
  }
  bool try_lock(access& inside, position& p, std::string_view key) {
    std::unique_lock guard(lock_);
    if (!renew(inside, p, key) || !core_.try_lock(inside, p.at, key)) return false;
    guard.release();
    return true;
  }
  void unlock(const position& p) noexcept {
    core_.unlock(p.at);
    lock_.unlock();
  }
  bool attach(access& inside, position& p, std::string_view key, entry* created) {
    const std::lock_guard guard(lock_);
    if (!renew(inside, p, key)) return false;
    ++changes_;
    return core_.attach(inside, p.at, key, created);
  }
  void detach(access& inside, const position& p, std::string_view key) {
    const std::lock_guard guard(lock_, std::adopt_lock);
    ++changes_;
    core_.detach(inside, p.at, key);
  }

  std::uint64_t changes_ = 0;  // how often something was linked or unlinked; guarded by lock_
};

}  // namespace isotherm::index
