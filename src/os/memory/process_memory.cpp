#include "os/memory/process_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "os/memory/address_space.hpp"
#include "os/proc_file.hpp"

namespace isotherm::os {
namespace {

/// Bytes of a line "Name:   123 kB"; 0 for other lines.
std::uint64_t kilobytes_of(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return 0;
  const std::size_t digit = line.find_first_of("0123456789", name.size());
  if (digit == std::string_view::npos) return 0;
  std::uint64_t value = 0;
  std::from_chars(line.data() + digit, line.data() + line.size(), value);
  return value << 10;
}

/// True when `line` opens a mapping ("7f00-7f80 rw-s ..."); then `begin` and `end` are set.
bool opens_mapping(std::string_view line, std::uintptr_t& begin, std::uintptr_t& end) {
  const char* last = line.data() + line.size();
  const auto [dash, problem] = std::from_chars(line.data(), last, begin, 16);
  if (problem != std::errc{} || dash == last || *dash != '-') return false;
  return std::from_chars(dash + 1, last, end, 16).ec == std::errc{};
}

}  // namespace

process_memory read_process_memory() {
  process_memory found;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    found.rss_bytes += kilobytes_of(line, "VmRSS:");
    found.rss_peak_bytes += kilobytes_of(line, "VmHWM:");
  }
  return found;
}

process_facts read_process_facts() {
  process_facts found;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    found.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) found.most_files = files.rlim_cur;
  const std::string pages = read_proc_file("/proc/self/statm");
  if (std::sscanf(pages.c_str(), "%" SCNu64 " %" SCNu64, &found.virtual_bytes,
                  &found.resident_bytes) == 2) {
    found.virtual_bytes *= page_bytes();
    found.resident_bytes *= page_bytes();
  }
  std::error_code none;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    static_cast<void>(each);
    ++found.open_files;
  }
  // Field 22 of stat, in ticks since the system's start, and when that was.
  const std::string stat = read_proc_file("/proc/self/stat");
  const auto started = number_after(read_proc_file("/proc/stat"), "btime");
  std::istringstream fields(stat.substr(std::min(stat.rfind(')'), stat.size())));
  std::string word;
  for (int field = 2; field < 22; ++field) fields >> word;
  if (double ticks = 0; started && fields >> ticks) {
    found.start_seconds =
        static_cast<double>(*started) + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return found;
}

std::uint64_t thread_major_faults() noexcept {
  rusage usage{};
  // Fails for a bad address or a bad first argument only.
  ::getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_majflt);
}

resident_set read_resident_set() {
  // size, resident and shared, in pages.
  const std::string text = read_proc_file("/proc/self/statm");
  std::uint64_t size = 0;
  resident_set found;
  if (std::sscanf(text.c_str(), "%" SCNu64 " %" SCNu64 " %" SCNu64, &size, &found.all_bytes,
                  &found.file_bytes) != 3) {
    return {};
  }
  return {found.all_bytes * page_bytes(), found.file_bytes * page_bytes()};
}

std::uint64_t resident_in(std::uintptr_t begin, std::uintptr_t end) {
  std::ifstream maps("/proc/self/smaps");
  std::uint64_t bytes = 0;
  std::uintptr_t from = 0, to = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with("Rss:")) {
      if (from < end && to > begin) bytes += kilobytes_of(line, "Rss:");
    } else if (line.find(' ') != std::string::npos && line[line.find(' ') - 1] != ':') {
      opens_mapping(line, from, to);
    }
  }
  return bytes;
}

}  // namespace isotherm::os
