#include "os/memory/available_memory.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

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

/// What the group at `path` itself leaves; nullopt without a limit ("max"), or without such a
/// group.
std::optional<std::uint64_t> room_of_group(const std::string& path, const group_files& files) {
  const auto limit = number_after(read_proc_file((path + files.limit).c_str()), "");
  if (!limit) return std::nullopt;
  const auto usage = number_after(read_proc_file((path + files.usage).c_str()), "");
  const std::string stat = "\n" + read_proc_file((path + "/memory.stat").c_str());
  const std::uint64_t cached =
      number_after(stat, files.inactive).value_or(0) + number_after(stat, files.active).value_or(0);
  return left(*limit, left(usage.value_or(0), cached));
}

std::optional<std::uint64_t> least(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

/// Of the group at `path` below `root` and all above it. In a container the path may be the host's
/// and not be there: then its parents tell.
std::optional<std::uint64_t> room_up_from(const std::string& root, std::string path,
                                          const group_files& files) {
  std::optional<std::uint64_t> room;
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    room = least(room, room_of_group(root + path, files));
    if (path.empty()) return room;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

/// Whether `controllers`, separated by commas, have one that is called "memory".
bool names_memory(std::string_view controllers) {
  for (;;) {
    const std::size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "memory") return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
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
  std::optional<std::uint64_t> room;
  while (!membership.empty()) {
    const std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(membership.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == line.npos ? first : first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      room = least(room, room_up_from(mount, path, kVersion2));
    } else if (names_memory(controllers)) {
      room = least(room, room_up_from(mount + "/memory", path, kVersion1));
    }
  }
  return room;
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
