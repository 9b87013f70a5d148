#include "os/memory/numa.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

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

}  // namespace isotherm::os
