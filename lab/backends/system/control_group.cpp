#include "lab/backends/system/control_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/numbers.hpp"
#include "os/proc_file.hpp"

namespace isotherm::lab {
namespace {

namespace fs = std::filesystem;
using os::group_version;

constexpr std::uint64_t kStep = std::uint64_t{64} << 20;
/// The file of version 1 that lets tasks wait for memory instead of being killed, and tells whether
/// one waits.
constexpr const char* kOomControl = "/memory.oom_control";

/// Names of files and of rows of memory.stat.
struct group_names {
  const char *usage, *limit, *no_limit, *anonymous, *file;
};
constexpr group_names kV1{"memory.usage_in_bytes", "memory.limit_in_bytes", "-1", "rss", "cache"};
constexpr group_names kV2{"memory.current", "memory.max", "max", "anon", "file"};

const group_names& names_of(group_version version) {
  return version == group_version::v1 ? kV1 : kV2;
}

/// The number behind a name in a text of rows "name number"; 0: there is no such row.
std::uint64_t row_of(const std::string& text, std::string_view name) {
  std::istringstream rows(text);
  std::string word;
  for (std::uint64_t number = 0; rows >> word >> number;) {
    if (word == name) return number;
  }
  return 0;
}

bool has_word(const std::string& text, std::string_view word) {
  std::istringstream words(text);
  for (std::string each; words >> each;) {
    if (each == word) return true;
  }
  return false;
}

/// Enables a controller for the groups below the mount of version 2, unless it is enabled.
base::result<void> enable(system_changes& changes, const std::string& mount,
                          const std::string& controller) {
  if (has_word(read_text(mount + "/cgroup.subtree_control"), controller)) return {};
  return changes.enable(mount, controller);
}

/// Makes a folder, which is noted.
base::result<void> make_group(system_changes& changes, const std::string& path) {
  if (auto noted = changes.note(change::group, path); !noted) return noted;
  std::error_code problem;
  if (fs::create_directory(path, problem)) return {};
  // One that is there is another program's, and must not be ended with its processes.
  if (auto forgotten = changes.forget_last(); !forgotten) return forgotten;
  return std::unexpected(base::system_error("cannot make the control group " + path,
                                            problem ? problem.value() : EEXIST));
}

}  // namespace

std::optional<group_mounts> find_group_mounts(const std::string& mounts,
                                              std::string (*read)(const std::string& path)) {
  std::optional<group_mounts> found;
  std::string unified;
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device, mount, kind, options;
    words >> device >> mount >> kind >> options;
    std::ranges::replace(options, ',', ' ');
    if (kind == "cgroup" && has_word(options, "memory")) found = {group_version::v1, mount, {}};
    if (kind != "cgroup2") continue;
    unified = mount;
    if (has_word(read(mount + "/cgroup.controllers"), "memory")) {
      found = {group_version::v2, mount, {}};
    }
  }
  if (found) found->pressure = unified;
  return found;
}

control_group::control_group(group_mounts mounts, std::string name)
    : version_(mounts.version),
      folder_(mounts.memory + '/' + name),
      pressure_(mounts.pressure.empty() ? "" : mounts.pressure + '/' + name) {}

base::result<control_group> control_group::make(system_changes& changes) {
  const auto mounts = find_group_mounts(read_text("/proc/mounts"), read_text);
  if (!mounts) {
    return std::unexpected(
        base::error{"no memory control group is mounted: mount -t cgroup2 none /sys/fs/cgroup"});
  }
  if (mounts->version == group_version::v2) {
    if (auto enabled = enable(changes, mounts->memory, "memory"); !enabled) {
      return std::unexpected(enabled.error());
    }
  }
  control_group made(*mounts, fmt::format("{}{}", kGroupPrefix, ::getpid()));
  if (auto group = make_group(changes, made.folder_); !group) {
    return std::unexpected(group.error());
  }
  if (!made.pressure_.empty() && made.pressure_ != made.folder_) {
    if (auto group = make_group(changes, made.pressure_); !group) {
      return std::unexpected(group.error());
    }
  }
  if (made.version_ == group_version::v2 && !fs::exists(made.folder_ + "/memory.reclaim")) {
    return std::unexpected(base::error{"control groups of version 2 need Linux 5.19 here"});
  }
  return made;
}

base::result<void> control_group::add(pid_t process) const {
  for (const std::string& folder : {folder_, pressure_}) {
    if (folder.empty()) continue;
    if (auto added = write_text(folder + "/cgroup.procs", std::to_string(process)); !added) {
      return added;
    }
  }
  return {};
}

std::uint64_t control_group::number(const char* file) const {
  return base::parse_number<std::uint64_t>(read_text(folder_ + '/' + file)).value_or(0);
}

group_memory control_group::memory() const {
  const group_names& names = names_of(version_);
  const bool is_v1 = version_ == group_version::v1;
  const std::string stat = read_text(folder_ + "/memory.stat");
  const std::string kills = read_text(folder_ + (is_v1 ? kOomControl : "/memory.events"));
  return {
      .charged = number(names.usage),
      .anonymous = row_of(stat, names.anonymous),
      .file = row_of(stat, names.file),
      .swap_cache = row_of(stat, "swapcached"),
      .swapped = is_v1 ? row_of(stat, "swap") : number("memory.swap.current"),
      .major_faults = row_of(stat, "pgmajfault"),
      .refaults = row_of(stat, "workingset_refault_anon") + row_of(stat, "workingset_refault_file"),
      .kills = row_of(kills, "oom_kill")};
}

std::optional<std::uint64_t> control_group::stalled_us() const {
  for (const std::string& file :
       {pressure_ + "/memory.pressure", std::string("/proc/pressure/memory")}) {
    if (const auto total = os::number_after(read_text(file), "total=")) return total;
  }
  return std::nullopt;
}

void control_group::set_limit(const std::string& text) const {
  // EBUSY where pages cannot leave: the limit then stays, and the next step tries again.
  static_cast<void>(write_text(folder_ + '/' + names_of(version_).limit, text));
}

base::result<void> control_group::let_tasks_wait() const {
  if (version_ != group_version::v1) return {};
  return write_text(folder_ + kOomControl, "1");
}

bool control_group::is_starved() const {
  if (version_ != group_version::v1) return false;
  const std::string state = read_text(folder_ + kOomControl);
  return row_of(state, "oom_kill_disable") > 0 && row_of(state, "under_oom") > 0;
}

void control_group::lower_to(std::uint64_t bytes) const {
  const std::uint64_t charged = number(names_of(version_).usage);
  if (is_starved()) {
    set_limit(std::to_string(charged + kStep));
    return;
  }
  const std::uint64_t above = charged - std::min(charged, bytes);
  // A limit of version 2 below what cannot leave kills: pages are asked to leave first.
  if (version_ == group_version::v2) reclaim(std::min(above, kStep));
  const std::uint64_t now = number(names_of(version_).usage);
  const std::uint64_t step = version_ == group_version::v1 ? kStep : 0;
  set_limit(std::to_string(std::max(bytes, now - std::min(now, step))));
}

base::result<void> control_group::allow_nodes(system_changes& changes,
                                              std::span<const unsigned> nodes) const {
  const std::string mount = folder_.substr(0, folder_.rfind('/'));
  if (auto enabled = enable(changes, mount, "cpuset"); !enabled) return enabled;
  return write_text(folder_ + "/cpuset.mems", fmt::format("{}", fmt::join(nodes, ",")));
}

std::uint64_t control_group::bytes_on(std::span<const unsigned> nodes) const {
  const std::string row = read_text(folder_ + "/memory.numa_stat");  // "anon N0=1 N1=2", ...
  std::uint64_t sum = 0;
  for (const unsigned node : nodes) {
    sum += os::number_after(row, fmt::format(" N{}=", node)).value_or(0);
  }
  return sum;
}

bool control_group::holds(std::uint64_t bytes) const {
  const std::string limit = read_text(folder_ + '/' + names_of(version_).limit);
  const auto set = base::parse_number<std::uint64_t>(limit);
  return set && *set <= bytes && number(names_of(version_).usage) <= bytes && !is_starved();
}

void control_group::reclaim(std::uint64_t bytes) const {
  if (version_ == group_version::v2) {
    // EAGAIN where less could leave.
    static_cast<void>(write_text(folder_ + "/memory.reclaim", std::to_string(bytes)));
    return;
  }
  const std::uint64_t charged = number(kV1.usage);
  set_limit(std::to_string(charged - std::min(charged, bytes)));
  set_limit(kV1.no_limit);
}

}  // namespace isotherm::lab
