#include "os/memory/numa.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string>

namespace isotherm::os {

base::result<void> prefer_node(void* begin, std::size_t bytes, unsigned node) {
  constexpr unsigned kMostNodes = 1024, kWordBits = sizeof(unsigned long) * CHAR_BIT;
  const std::string subject = "memory node " + std::to_string(node) + " cannot be used";
  if (node >= kMostNodes) return std::unexpected(base::system_error(subject, EINVAL));
  std::array<unsigned long, kMostNodes / kWordBits> mask{};
  mask[node / kWordBits] = 1UL << (node % kWordBits);
  // The kernel takes one bit less than it is told.
  if (syscall(SYS_mbind, begin, bytes, MPOL_PREFERRED, mask.data(), kMostNodes + 1, 0) != 0) {
    return std::unexpected(base::system_error(subject, errno));
  }
  return {};
}

namespace {

/// Asks for the nodes of pages, or moves them where `nodes` says.
std::vector<int> move_pages(pid_t process, std::span<const std::uintptr_t> pages,
                            const int* nodes) {
  std::vector<int> found(pages.size(), -1);
  if (syscall(SYS_move_pages, process, pages.size(), pages.data(), nodes, found.data(),
              MPOL_MF_MOVE) < 0) {
    std::ranges::fill(found, -1);
  }
  return found;
}

}  // namespace

std::vector<int> nodes_of(pid_t process, std::span<const std::uintptr_t> pages) {
  return move_pages(process, pages, nullptr);
}

std::size_t move_to_node(pid_t process, std::span<const std::uintptr_t> pages, unsigned node) {
  const std::vector<int> wanted(pages.size(), static_cast<int>(node));
  const auto moved = move_pages(process, pages, wanted.data());
  return static_cast<std::size_t>(std::ranges::count(moved, static_cast<int>(node)));
}

std::optional<unsigned> node_of(const void* address) noexcept {
  const void* const pages[] = {address};
  int node = -1;
  // Without nodes to move to, the call tells where the pages are.
  if (syscall(SYS_move_pages, 0, 1UL, pages, nullptr, &node, 0) != 0 || node < 0) {
    return std::nullopt;
  }
  return static_cast<unsigned>(node);
}

}  // namespace isotherm::os
