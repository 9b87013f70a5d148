// Page faults of processes, by the kernel's tracepoint for them. Under NUMA balancing, which takes
// pages out of the page table again and again, they tell which pages were accessed since.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/backends/system/system_changes.hpp"

namespace isotherm::lab {

/// A trace of its own, which disturbs no other. It ends with the changes. Thread: one.
class fault_trace {
 public:
  /// Begins, for the threads that these processes have now. Errors: it needs root and tracefs.
  static base::result<fault_trace> start(system_changes& changes, std::span<const pid_t> processes);

  /// Returns the addresses of faults since the last call, and forgets them. Some may be lost where
  /// there are many.
  std::vector<std::uintptr_t> take() const;

 private:
  fault_trace() = default;
};

/// Finds the addresses in the text of a trace, "... page_fault_user: address=0x7f00 ip=...".
std::vector<std::uintptr_t> parse_faults(const std::string& text);

/// Returns why faults cannot be traced here and how to change that; empty: they can.
std::string why_no_fault_trace();

}  // namespace isotherm::lab
