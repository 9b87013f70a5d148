// The kernel's account of this process's memory.
#pragma once

#include <cstdint>

namespace isotherm::os {

/// Resident set now and at its highest, in bytes; zeros when the system does not tell.
struct process_memory {
  std::uint64_t rss_bytes = 0;
  std::uint64_t rss_peak_bytes = 0;
};
process_memory read_process_memory();

/// Facts about this process that monitoring systems expect of any; zeros where the system does not
/// tell.
struct process_facts {
  double cpu_seconds = 0, start_seconds = 0;  ///< `start_seconds` counts from 1970
  std::uint64_t resident_bytes = 0, virtual_bytes = 0;
  std::uint64_t open_files = 0, most_files = 0;
};
/// Reads files of /proc, and counts those in /proc/self/fd: some 100 us.
process_facts read_process_facts();

/// Returns the number of pages for which the calling thread has waited since it began: read from a
/// disk or from swap. Takes some 0.2 us.
std::uint64_t thread_major_faults() noexcept;

/// The resident set, and of it the pages of files and shared memory, in bytes; zeros when the
/// system does not tell. Some microseconds; may be some pages a thread behind.
struct resident_set {
  std::uint64_t all_bytes = 0;
  std::uint64_t file_bytes = 0;
};
resident_set read_resident_set();

/// Resident bytes of the mappings that meet [begin, end). Walks the page tables
/// (milliseconds for a gigabyte): for once a window, not for once a request.
std::uint64_t resident_in(std::uintptr_t begin, std::uintptr_t end);

}  // namespace isotherm::os
