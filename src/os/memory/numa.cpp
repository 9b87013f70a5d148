#include "os/memory/numa.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <span>
#include <string>

#include "os/memory/address_space.hpp"
#include "os/proc_file.hpp"

namespace isotherm::os {
namespace {

constexpr unsigned kMostNodes = 1024;
const char* const kNodes = "/sys/devices/system/node/";

std::string name_of(unsigned node) { return "memory node " + std::to_string(node); }

std::unexpected<base::error> refusal(std::string message, int code) {
  return std::unexpected(base::error{std::move(message), code});
}

std::string file_of_node(unsigned node) {
  return read_proc_file((kNodes + ("node" + std::to_string(node)) + "/meminfo").c_str());
}

/// Returns "0-1", as the system lists them; "none" on a kernel that knows of no nodes.
std::string nodes_with_memory() {
  std::string text = read_proc_file((std::string(kNodes) + "has_memory").c_str());
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() ? "none" : text;
}

base::result<void> check_place(std::byte* begin, std::size_t bytes, unsigned node) {
  constexpr std::size_t kPagesAtOnce = 256;
  std::array<void*, kPagesAtOnce> pages;
  std::array<int, kPagesAtOnce> nodes;
  const std::size_t page = page_bytes();
  for (std::byte* const end = begin + bytes; begin < end;) {
    const std::size_t count = std::min(kPagesAtOnce, static_cast<std::size_t>(end - begin) / page);
    for (std::size_t i = 0; i < count; ++i) pages[i] = begin + i * page;
    begin += count * page;
    const std::span found(nodes.data(), count);
    if (auto asked = find_nodes({pages.data(), count}, found); !asked) return asked;
    if (std::ranges::any_of(found, [&](int at) { return at != static_cast<int>(node); })) {
      return refusal(name_of(node) + " has no free memory", ENOMEM);
    }
  }
  return {};
}

/// Places one page there, as the process will place others.
base::result<void> place_a_page(unsigned node) {
  const std::size_t page = page_bytes();
  void* const memory = map_memory(page);
  if (memory == nullptr) return refusal("no memory for a page", ENOMEM);
  auto placed = prefer_node(memory, page, node);
  if (placed) placed = populate_on_node(memory, page, node);
  release(memory, page);
  return placed;
}

}  // namespace

base::result<void> check_node(unsigned node) {
  const std::string subject = name_of(node), known = "nodes with memory here: ";
  if (node >= kMostNodes || file_of_node(node).empty()) {
    return refusal("there is no " + subject + "; " + known + nodes_with_memory(), ENODEV);
  }
  if (number_after(file_of_node(node), "MemTotal:").value_or(0) == 0) {
    return refusal(subject + " has no memory; " + known + nodes_with_memory(), ENODEV);
  }
  auto placed = place_a_page(node);
  if (placed) return {};
  const int code = placed.error().code;
  if (code == EPERM) {
    return refusal("this process may not place pages on " + subject +
                       ": allow it mbind and move_pages (in a container the capability SYS_NICE)",
                   code);
  }
  if (code == EINVAL) {
    return refusal("this process may not use " + subject +
                       ": add it to the memory nodes of its control group (cpuset.mems)",
                   code);
  }
  if (code == ENOMEM) {
    return refusal(subject + " has no free memory: make room there or name another node", code);
  }
  return placed;
}

base::result<void> prefer_node(void* begin, std::size_t bytes, unsigned node) {
  constexpr unsigned kWordBits = sizeof(unsigned long) * CHAR_BIT;
  const std::string subject = name_of(node) + " cannot be used";
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

base::result<void> populate_on_node(void* begin, std::size_t bytes, unsigned node) {
  if (auto made = advise(begin, bytes, advice::populate_for_writing); !made) {
    if (made.error().code != EINVAL) return made;
    return refusal("pages of a memory node need Linux 5.14 (MADV_POPULATE_WRITE)", ENOSYS);
  }
  return check_place(static_cast<std::byte*>(begin), bytes, node);
}

base::result<void> find_nodes(std::span<void* const> pages, std::span<int> nodes) {
  // Without a target it moves none.
  if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0) == 0) {
    return {};
  }
  return std::unexpected(base::system_error("cannot ask on which memory node pages lie", errno));
}

}  // namespace isotherm::os
