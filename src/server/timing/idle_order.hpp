// Connections in the order of their last use, for closing those that are idle.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

namespace isotherm::server {

/// The longest unused come first, so that finding the idle ones takes time in proportion to their
/// number, not to that of all connections. Times are of one clock, which never goes back. add(),
/// use() and remove() take constant time. Not thread-safe.
class idle_order {
  struct entry {
    std::uint64_t id;
    std::int64_t used_ms;
  };

 public:
  /// Valid from add() to remove().
  using place = std::list<entry>::iterator;

  place add(std::uint64_t id, std::int64_t now_ms) {
    return entries_.insert(entries_.end(), {id, now_ms});
  }
  void use(place which, std::int64_t now_ms) {
    if (which->used_ms == now_ms) return;
    which->used_ms = now_ms;
    entries_.splice(entries_.end(), entries_, which);
  }
  void remove(place which) { entries_.erase(which); }

  /// Connections not used since before `moment_ms`, longest unused first. Looks at only one more.
  std::vector<std::uint64_t> unused_since(std::int64_t moment_ms) const {
    std::vector<std::uint64_t> found;
    for (const entry& each : entries_) {
      if (each.used_ms >= moment_ms) break;
      found.push_back(each.id);
    }
    return found;
  }

 private:
  std::list<entry> entries_;
};

}  // namespace isotherm::server
