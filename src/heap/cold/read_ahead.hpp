// Pages of COLD that the collector is about to read. One after the other each would be a page fault
// and a read of its own, amid a batch of moves: 30 us each on a fast disk, milliseconds on a slow
// one. Here they are asked for together, pages side by side in one read.
#pragma once

#include <vector>

#include "heap/cold/read.hpp"

namespace isotherm::heap {

/// One thread's.
class read_ahead {
 public:
  /// Of a live object, in a scope that has found it: its pages if it lies in COLD and they have
  /// left DRAM. Left out when there is no memory to note it.
  void add(const void* object) noexcept;
  /// Brings what was added to DRAM, mapped, and forgets it. It counts as used, so that what stays
  /// there leaves again. Waits for the disk. What that does not give is left to whoever uses the
  /// object, who meets the error again.
  void run() noexcept;

 private:
  struct object_out {
    const void* object;
    miss pages;  // pins the extent, so that it is not given back under the read
  };
  void begin_reading() const;
  void map() const;

  std::vector<object_out> wanted_;
};

}  // namespace isotherm::heap
