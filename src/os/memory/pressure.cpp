#include "os/memory/pressure.hpp"

#include <algorithm>
#include <charconv>

#include "os/proc_file.hpp"

namespace isotherm::os {

std::optional<double> parse_pressure(std::string_view text) {
  constexpr std::string_view kLabel = "some avg10=";
  const std::size_t at = text.find(kLabel);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(at + kLabel.size());
  double percent = 0;
  const auto [end, failure] =
      std::from_chars(number.data(), number.data() + number.size(), percent);
  if (failure != std::errc{}) return std::nullopt;
  return percent;
}

std::optional<double> control_group_pressure(std::string_view membership,
                                             const std::string& mount) {
  constexpr std::string_view kVersion2 = "0::";
  while (!membership.empty()) {
    const std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(membership.size(), line.size() + 1));
    if (!line.starts_with(kVersion2)) continue;
    const std::string path(line.substr(kVersion2.size()));
    return parse_pressure(read_proc_file((mount + path + "/memory.pressure").c_str()));
  }
  return std::nullopt;
}

std::optional<double> memory_pressure_percent() {
  const auto group = control_group_pressure(read_proc_file("/proc/self/cgroup"), "/sys/fs/cgroup");
  if (group) return group;
  return parse_pressure(read_proc_file("/proc/pressure/memory"));
}

}  // namespace isotherm::os
