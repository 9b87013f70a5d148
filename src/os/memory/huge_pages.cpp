#include "os/memory/huge_pages.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>

#include "os/proc_file.hpp"

namespace isotherm::os {

base::result<void> keep_pages_small(void* begin, std::size_t bytes) {
  if (madvise(begin, bytes, MADV_NOHUGEPAGE) == 0 || errno == EINVAL) return {};
  return std::unexpected(base::system_error("cannot keep huge pages out of memory", errno));
}

std::uint64_t huge_bytes_in(std::uintptr_t begin, std::uintptr_t end) {
  std::ifstream maps("/proc/self/smaps");
  std::uint64_t kilobytes = 0;
  bool is_inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0, to = 0;
    // A mapping begins with a line as "7f00-7f80 rw-p ...".
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {
      is_inside = from < end && to > begin;
    } else if (is_inside) {
      kilobytes += number_after(line, "AnonHugePages:").value_or(0);
    }
  }
  return kilobytes << 10;
}

std::string huge_page_setting() {
  const std::string text = read_proc_file("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = text.find('['), close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "absent";
  return text.substr(open + 1, close - open - 1);
}

}  // namespace isotherm::os
