// A structure behind a gate, which readers pass together and writers alone: what the coarse
// structures (a reader-writer lock) share with each other and with btree-occ (no gate).
//
// A writer searches as readers do, decides and allocates behind no gate, and then passes alone. If
// others have linked or unlinked something meanwhile, it searches once more in there.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string_view>

#include "index/optimistic_writes.hpp"
#include "index/writer_first_lock.hpp"

namespace isotherm::index {

/// A gate that is open to all, before a core that looks after itself.
struct open_gate {
  void lock() noexcept {}
  void unlock() noexcept {}
  void lock_shared() noexcept {}
  void unlock_shared() noexcept {}
  std::uint64_t changes() const noexcept { return 0; }
  void note_change() noexcept {}
};

/// One reader-writer lock for all.
class coarse_gate : public writer_first_lock {
 public:
  /// How often something behind it was linked or unlinked. For whoever is inside.
  std::uint64_t changes() const noexcept { return changes_; }
  /// For a writer.
  void note_change() noexcept { ++changes_; }

 private:
  std::uint64_t changes_ = 0;  // guarded by the lock
};

/// `Core` has what optimistic_writes asks for, where a position knows the entry `found`, and:
///   find(inside, key)   the key's entry, or null
///   cut()               empties the structure; what retire_cut() takes and counts
///   is_valid(keys)      whether all is in order, and has so many keys
template <class Core, class Holding, class Gate>
class gated : public optimistic_writes<gated<Core, Holding, Gate>, Holding, typename Core::entry> {
  using writes = optimistic_writes<gated, Holding, typename Core::entry>;
  friend writes;

 public:
  std::optional<std::string_view> find(const scope& inside, std::string_view key) {
    const std::shared_lock guard(gate_);
    const auto* found = core_.find(inside, key);
    if (!found) return std::nullopt;
    // An entry that is erased meanwhile keeps its last value.
    return found->value.get(inside)->view();
  }
  /// Without memory it ends the process: an exception would leave nodes locked.
  void clear() noexcept {
    const scope inside;
    std::unique_lock guard(gate_);
    gate_.note_change();
    auto* const rest = core_.cut();
    guard.unlock();
    count_.add(-core_.retire_cut(rest));
  }
  bool is_valid() { return core_.is_valid(this->size()); }

 protected:
  [[no_unique_address]] Gate gate_;
  Core core_;

 private:
  using typename writes::entry;
  using writes::count_;

  struct position {
    typename Core::position at;
    std::uint64_t changes;
  };

  position locate(const scope& inside, std::string_view key) {
    const std::shared_lock guard(gate_);
    return {core_.locate(inside, key), gate_.changes()};
  }
  static entry* found(const scope& inside, const position& p, std::string_view key) {
    return Core::found(inside, p.at, key);
  }
  /// For whoever has passed alone: makes `p` what a search would find now; false: it finds another
  /// entry than before, or one where there was none, or none.
  bool renew(const scope& inside, position& p, std::string_view key) {
    if (gate_.changes() == p.changes) return true;
    const entry* const before = p.at.found;
    p = {core_.locate(inside, key), gate_.changes()};
    return p.at.found == before;
  }
  bool try_lock(const scope& inside, position& p, std::string_view key) {
    std::unique_lock guard(gate_);
    if (!renew(inside, p, key) || !core_.try_lock(inside, p.at, key)) return false;
    guard.release();
    return true;
  }
  void unlock(const position& p) noexcept {
    core_.unlock(p.at);
    gate_.unlock();
  }
  bool attach(const scope& inside, position& p, std::string_view key, entry* fresh) {
    const std::lock_guard guard(gate_);
    if (!renew(inside, p, key)) return false;
    gate_.note_change();
    return core_.attach(inside, p.at, key, fresh);
  }
  void detach(const scope& inside, const position& p, std::string_view key) {
    const std::lock_guard guard(gate_, std::adopt_lock);
    gate_.note_change();
    core_.detach(inside, p.at, key);
  }
};

}  // namespace isotherm::index
