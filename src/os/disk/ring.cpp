#include "os/disk/ring.hpp"

#include <algorithm>

#include "os/faults.hpp"

namespace isotherm::os {

bool ring_has(io_uring& ring, std::initializer_list<io_uring_op> operations) noexcept {
  if (injected_fault(io_call::probe) != 0) return false;
  io_uring_probe* const told = io_uring_get_probe_ring(&ring);
  if (told == nullptr) return false;
  const bool has_all = std::ranges::all_of(operations, [told](io_uring_op operation) {
    return io_uring_opcode_supported(told, operation) != 0;
  });
  io_uring_free_probe(told);
  return has_all;
}

}  // namespace isotherm::os
