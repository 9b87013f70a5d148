#include "os/memory/available_memory.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "os/limits/control_groups.hpp"
#include "os/memory/address_space.hpp"
#include "os/proc_file.hpp"

namespace isotherm::os {
namespace {

/// The files of one version of memory control groups.
struct group_files {
  const char* limit;
  const char* usage;
  const char* inactive;  // label in memory.stat
  const char* active;
};
constexpr group_files kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                "total_inactive_file ", "total_active_file "};
constexpr group_files kVersion2{"/memory.max", "/memory.current", "\ninactive_file ",
                                "\nactive_file "};

std::uint64_t left(std::uint64_t limit, std::uint64_t used) {
  return limit - std::min(limit, used);
}

/// Returns the bytes that the group at `path` itself leaves; nullopt without a limit ("max"), or
/// without such a group.
std::optional<std::uint64_t> room_of_group(const std::string& path, group_version version) {
  const group_files& files = version == group_version::v1 ? kVersion1 : kVersion2;
  const auto limit = number_after(read_proc_file((path + files.limit).c_str()), "");
  if (!limit) return std::nullopt;
  const auto usage = number_after(read_proc_file((path + files.usage).c_str()), "");
  const std::string stat = "\n" + read_proc_file((path + "/memory.stat").c_str());
  const std::uint64_t cached =
      number_after(stat, files.inactive).value_or(0) + number_after(stat, files.active).value_or(0);
  return left(*limit, left(usage.value_or(0), cached));
}

}  // namespace

std::optional<std::uint64_t> address_space_room() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto pages = number_after(read_proc_file("/proc/self/statm"), "");
  return left(limit.rlim_cur, pages.value_or(0) * page_bytes());
}

std::uint64_t thread_stack_bytes() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

std::optional<std::uint64_t> control_group_room(std::string_view membership,
                                                const std::string& mount) {
  return least_of_groups(membership, mount, "memory", room_of_group);
}

std::optional<std::uint64_t> control_group_room() {
  return control_group_room(read_proc_file("/proc/self/cgroup"), "/sys/fs/cgroup");
}

std::uint64_t available_memory() {
  const auto free_kib = number_after(read_proc_file("/proc/meminfo"), "MemAvailable:");
  const std::uint64_t free =
      free_kib ? *free_kib * 1024
               : static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  return least(least(free, control_group_room()), address_space_room()).value_or(free);
}

}  // namespace isotherm::os
