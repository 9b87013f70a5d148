#include "os/memory/swap.hpp"

#include <sys/swap.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "os/memory/address_space.hpp"
#include "os/proc_file.hpp"

namespace isotherm::os {

swap_space read_swap_space() {
  const std::string text = read_proc_file("/proc/meminfo");
  return {number_after(text, "SwapTotal:").value_or(0) * 1024,
          number_after(text, "SwapFree:").value_or(0) * 1024};
}

std::vector<std::byte> swap_header(std::uint64_t bytes) {
  // union swap_header of the kernel: behind 1024 bytes for a boot block stand the version, the
  // number of the last page and that of bad pages; the page ends with the signature.
  constexpr std::size_t kFacts = 1024;
  constexpr std::string_view kSignature = "SWAPSPACE2";
  const std::size_t page = page_bytes();
  const std::array<std::uint32_t, 3> facts{1, static_cast<std::uint32_t>(bytes / page - 1), 0};
  std::vector<std::byte> first(page);
  std::memcpy(first.data() + kFacts, facts.data(), sizeof facts);
  std::memcpy(first.data() + page - kSignature.size(), kSignature.data(), kSignature.size());
  return first;
}

base::result<void> start_swap(const std::string& path) {
  if (::swapon(path.c_str(), SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK) == 0) return {};
  return std::unexpected(base::system_error("cannot swap on " + path, errno));
}

base::result<void> stop_swap(const std::string& path) {
  if (::swapoff(path.c_str()) == 0) return {};
  return std::unexpected(base::system_error("cannot end swapping on " + path, errno));
}

}  // namespace isotherm::os
