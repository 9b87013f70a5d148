// A memory control group of version 1 or 2, made for a run.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "lab/backends/system/system_changes.hpp"
#include "os/limits/control_groups.hpp"

namespace isotherm::lab {

/// The place where control groups are mounted, as /proc/mounts tells it.
struct group_mounts {
  os::group_version version = os::group_version::v2;
  std::string memory;    ///< the mount with the memory controller
  std::string pressure;  ///< the mount of version 2, which tells pressure by group; empty: none
};
/// Finds them in the text of /proc/mounts; `read` returns the text of a file. nullopt: no mount has
/// the memory controller.
std::optional<group_mounts> find_group_mounts(const std::string& mounts,
                                              std::string (*read)(const std::string& path));

/// Memory of a group, in bytes, and counts since the group was made.
struct group_memory {
  std::uint64_t charged = 0;     ///< all that the group is charged for in DRAM
  std::uint64_t anonymous = 0;   ///< of it, mapped anonymous pages
  std::uint64_t file = 0;        ///< of it, page cache
  std::uint64_t swap_cache = 0;  ///< of it, pages that swap space has too
  std::uint64_t swapped = 0;     ///< in swap space
  std::uint64_t major_faults = 0;
  std::uint64_t refaults = 0;  ///< pages that came back after they had been reclaimed
  std::uint64_t kills = 0;     ///< processes killed for want of memory
};

/// Thread: one. The group goes when the changes are undone.
class control_group {
 public:
  /// Makes a group. Errors: it needs root, and a kernel with the memory controller.
  static base::result<control_group> make(system_changes& changes);

  base::result<void> add(pid_t process) const;
  group_memory memory() const;
  /// Returns the microseconds in which some task of the group waited for memory; of the system
  /// where the group's are not told. The kernel brings them up to date every two seconds. nullopt:
  /// the kernel does not tell (it needs psi=1).
  std::optional<std::uint64_t> stalled_us() const;

  /// Lowers the limit one step, of 64 MiB at most, towards `bytes`. To be called again until
  /// holds(): the kernel refuses a limit while the pages above it cannot leave. Raises it one step
  /// where let_tasks_wait() has made a task wait.
  void lower_to(std::uint64_t bytes) const;
  bool holds(std::uint64_t bytes) const;
  /// From now on a task waits that exceeds the limit while the kernel can reclaim nothing, as a
  /// slow swap device has not written the pages yet. Version 2 has no such switch: the kernel kills
  /// the task there.
  base::result<void> let_tasks_wait() const;
  /// Takes new pages from these memory nodes alone. Errors: it needs version 2 with the controller
  /// cpuset.
  base::result<void> allow_nodes(system_changes& changes, std::span<const unsigned> nodes) const;
  /// Returns the bytes of anonymous memory on these nodes. 0 in version 1.
  std::uint64_t bytes_on(std::span<const unsigned> nodes) const;
  /// Asks the kernel to reclaim so many bytes now: by memory.reclaim, or in version 1 by a limit
  /// that is lifted at once. Reclaims less where less can leave.
  void reclaim(std::uint64_t bytes) const;

 private:
  control_group(group_mounts mounts, std::string name);
  std::uint64_t number(const char* file) const;
  bool is_starved() const;
  void set_limit(const std::string& text) const;

  os::group_version version_;
  std::string folder_;
  std::string pressure_;  ///< the file that tells pressure
};

}  // namespace isotherm::lab
