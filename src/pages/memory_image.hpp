// The memory of an observed process at one moment: its mappings, and which of their pages it holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace isotherm::pages {

enum class mapping_kind : unsigned char {
  heap,
  stack,
  anonymous,
  isotherm_new,
  isotherm_hot,
  isotherm_cold,
  isotherm_node,
  file,
  kernel,
  unknown
};
inline constexpr unsigned kMappingKinds = 10;
/// "heap" (of brk), "stack" (the first thread's), "anonymous" (mmap, thread stacks),
/// "isotherm-new",
/// "-hot", "-cold" and "-node" (heaps of a program with the runtime), "file" (program, libraries,
/// shared memory), "kernel" (vdso), "unknown" (a trace has no mappings).
std::string_view name(mapping_kind kind);

/// Addresses [begin, end).
struct address_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes() const noexcept { return end - begin; }
};

/// A mapping, a line of /proc/PID/maps.
struct mapping : address_range {
  mapping_kind kind = mapping_kind::unknown;
  std::string permissions;  ///< "rw-p"
  std::string name;         ///< a path, "[heap]", "[anon:NAME]", or empty

  /// Changes the name, and the kind that follows from it.
  void set_name(std::string_view text);
  /// Returns the part of addresses [from, to).
  mapping part(std::uint64_t from, std::uint64_t to) const;
};

/// Pages in DRAM that lie side by side.
struct resident_range : address_range {
  bool huge = false;  ///< mapped as pages of 2 MiB
};

struct memory_image {
  /// Ascending; they do not overlap. Empty where the source knows none.
  std::vector<mapping> mappings;
  /// Ascending; they do not overlap.
  std::vector<resident_range> resident;
  /// False where the source cannot tell (a trace): `resident` is empty then.
  bool knows_resident = false;
};

/// Returns the mappings that a text like that of /proc/PID/maps lists. Other lines are left out,
/// and the page vsyscall, which is the kernel's own.
std::vector<mapping> parse_mappings(std::string_view text);

/// Reads the mappings of process `pid`. Errors: no such process, no permission.
base::result<std::vector<mapping>> read_mappings(int pid);

/// Returns the pages of process `pid` that lie in `mappings` and in DRAM. Asks the kernel by
/// PAGEMAP_SCAN (6.7 and later), before it by /proc/PID/pagemap, which does not tell huge pages.
/// Errors: no such process, no permission.
base::result<std::vector<resident_range>> read_resident(int pid,
                                                        const std::vector<mapping>& mappings);

}  // namespace isotherm::pages
