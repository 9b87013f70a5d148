// One reader-writer lock around a structure that has none, shared by readers and held alone by
// writers: what the coarse structures have in common.
//
// A writer searches as readers do, decides and allocates without the lock, and then takes it alone.
// If others have linked or unlinked something meanwhile, it searches once more under the lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string_view>

#include "index/optimistic_writes.hpp"
#include "index/writer_first_lock.hpp"

namespace isotherm::index {

/// `Core` has what optimistic_writes asks for, where a position knows the entry `found`, and:
///   find(inside, key)   the key's entry, or null
///   cut()               empties the structure; what retire_cut() takes and counts
///   is_valid(keys)      whether all is in order, and has so many keys
template <class Core, class Storage>
class coarse : public optimistic_writes<coarse<Core, Storage>, Storage, typename Core::entry> {
  using writes = optimistic_writes<coarse, Storage, typename Core::entry>;
  friend writes;

 public:
  std::optional<std::string_view> find(const scope& inside, std::string_view key) {
    const std::shared_lock guard(lock_);
    const auto* found = core_.find(inside, key);
    if (!found) return std::nullopt;
    // An entry that is erased meanwhile keeps its last value.
    return found->value.get(inside)->view();
  }
  /// Without memory it ends the process: an exception would leave nodes locked.
  void clear() noexcept {
    const scope inside;
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

  position locate(const scope& inside, std::string_view key) {
    const std::shared_lock guard(lock_);
    return {core_.locate(inside, key), changes_};
  }
  auto make(const position& p, std::string_view key, const content& value) {
    return core_.make(p.at, key, value);
  }
  static entry* found(const scope& inside, const position& p, std::string_view key) {
    return Core::found(inside, p.at, key);
  }
  /// For whoever holds the lock alone: makes `p` what a search would find now; false: it finds
  /// another entry than before, or one where there was none, or none.
  bool renew(const scope& inside, position& p, std::string_view key) {
    if (changes_ == p.changes) return true;
    const entry* const before = p.at.found;
    p = {core_.locate(inside, key), changes_};
    return p.at.found == before;
  }
  bool try_lock(const scope& inside, position& p, std::string_view key) {
    std::unique_lock guard(lock_);
    if (!renew(inside, p, key) || !core_.try_lock(inside, p.at, key)) return false;
    guard.release();
    return true;
  }
  void unlock(const position& p) noexcept {
    core_.unlock(p.at);
    lock_.unlock();
  }
  bool attach(const scope& inside, position& p, std::string_view key, entry* created) {
    const std::lock_guard guard(lock_);
    if (!renew(inside, p, key)) return false;
    ++changes_;
    return core_.attach(inside, p.at, key, created);
  }
  void detach(const scope& inside, const position& p, std::string_view key) {
    const std::lock_guard guard(lock_, std::adopt_lock);
    ++changes_;
    core_.detach(inside, p.at, key);
  }

  std::uint64_t changes_ = 0;  // how often something was linked or unlinked; guarded by lock_
};

}  // namespace isotherm::index
