#include "lab/backends/system/fault_trace.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <string_view>

#include "os/proc_file.hpp"

namespace isotherm::lab {
namespace {

namespace fs = std::filesystem;

const std::string kTracing = "/sys/kernel/tracing/";
constexpr const char* kEvent = "events/exceptions/page_fault_user/";
const std::string kTrace = kTracing + "instances/isotherm-bench/";

/// Returns the numbers of all threads, separated by blanks.
std::string threads_of(std::span<const pid_t> processes) {
  std::string all;
  for (const pid_t process : processes) {
    std::error_code gone;
    for (const auto& each : fs::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
      all += each.path().filename().string() + ' ';
    }
  }
  return all;
}

}  // namespace

base::result<fault_trace> fault_trace::start(system_changes& changes,
                                             std::span<const pid_t> processes) {
  if (auto noted = changes.note(change::file, kTrace); !noted) {
    return std::unexpected(noted.error());
  }
  std::error_code problem;
  fs::create_directory(kTrace, problem);
  if (problem) return std::unexpected(base::system_error("cannot make " + kTrace, problem.value()));
  const std::pair<std::string, std::string> settings[] = {{"buffer_size_kb", "1024"},
                                                          {"set_event_pid", threads_of(processes)},
                                                          {std::string(kEvent) + "enable", "1"}};
  for (const auto& [file, text] : settings) {
    if (auto wrote = write_text(kTrace + file, text); !wrote) {
      return std::unexpected(wrote.error());
    }
  }
  return fault_trace();
}

std::vector<std::uintptr_t> fault_trace::take() const {
  auto found = parse_faults(read_text(kTrace + "trace"));
  static_cast<void>(write_text(kTrace + "trace", ""));
  return found;
}

std::vector<std::uintptr_t> parse_faults(const std::string& text) {
  constexpr std::string_view kLabel = "page_fault_user: address=0x";
  std::vector<std::uintptr_t> found;
  for (std::size_t at = text.find(kLabel); at != text.npos; at = text.find(kLabel, at + 1)) {
    const char* const begin = text.data() + at + kLabel.size();
    std::uintptr_t address = 0;
    if (std::from_chars(begin, text.data() + text.size(), address, 16).ec == std::errc()) {
      found.push_back(address);
    }
  }
  return found;
}

std::string why_no_fault_trace() {
  if (!read_text(kTracing + kEvent + "enable").empty()) return {};
  return "page faults cannot be traced: as root, mount -t tracefs tracefs /sys/kernel/tracing";
}

}  // namespace isotherm::lab
