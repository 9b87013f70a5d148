// The bytes of objects of COLD that the collector is about to move. One after the other each would
// be a read of its own, amid a batch of moves: 30 us each on a fast disk, milliseconds on a slow
// one. Here they are asked for together, pages side by side in one read.
#pragma once

#include <memory>
#include <vector>

#include "heap/cold/read.hpp"
#include "os/disk/read_queue.hpp"

namespace isotherm::heap {

/// One thread's.
class batch_reads {
 public:
  /// Adds a live object in COLD, in a scope that has found it. It is pinned until clear(). Left out
  /// when there is no memory to note it, and when it is not out.
  void add(const void* object) noexcept;
  /// Reads what was added. Waits for the disk.
  void run() noexcept;
  /// Returns where the bytes of an object are: the object itself, if it is not out, or a copy that
  /// lives until clear(). Null when it was not read.
  /// Requires: the object is live, and was found in the scope that is open.
  const void* find(const void* object) const noexcept;
  /// Forgets what was added.
  void clear() noexcept;

 private:
  /// Pages side by side.
  struct part : os::queued_read {
    page_memory memory;
    bool holds(const base::page_span& where) const noexcept {
      return where.offset >= offset && where.offset + where.bytes <= offset + bytes;
    }
  };
  void make_parts();
  void read_parts();
  void read_apart(const part& failed);

  std::unique_ptr<os::read_queue> queue_;  // opened by the first run that reads
  std::vector<miss> wanted_;
  std::vector<std::unique_ptr<part>> parts_;  // ascending
  std::vector<base::page_span> unread_;       // that the disk did not give
};

}  // namespace isotherm::heap
