// Pages of COLD that the collector is about to read. One after the other each would be a page fault
// and a read of its own, with scopes waiting for the moves between them: 30 us each on a fast disk,
// milliseconds on a slow one. Here they are asked for together, pages side by side in one read.
#pragma once

#include <vector>

#include "base/page.hpp"

namespace isotherm::heap {

/// One thread's.
class read_ahead {
 public:
  /// Of a live object, in a scope that has found it: its pages if it lies in COLD and they have
  /// left DRAM. Left out when there is no memory to note it.
  void add(const void* object) noexcept;
  /// Brings what was added to DRAM, mapped, and forgets it. Waits for the disk. What it does not
  /// give is left to whoever uses the object, who meets the error again.
  void run() noexcept;

 private:
  std::vector<base::page_span> wanted_;
};

}  // namespace isotherm::heap
