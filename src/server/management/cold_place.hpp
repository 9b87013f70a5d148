// The place of COLD, as the operator is told at the start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heap/configure.hpp"

namespace isotherm::server {

/// The room that decides how much of COLD can leave DRAM.
struct cold_room {
  std::uint64_t swap_bytes = 0;             ///< of the system, used or not
  std::optional<std::uint64_t> disk_bytes;  ///< free on its disk; nullopt: none, or not known
  std::uint64_t memory_bytes = 0;           ///< that this process may take
};
cold_room measure_cold_room(const heap::cold_backing& backing);

/// Whether COLD's pages can leave DRAM at all.
bool can_leave_dram(const heap::cold_backing& backing, const cold_room& room);

/// Tells where COLD lies and what that means, in one line; a second one where its disk has less
/// room than the process may take of memory.
std::vector<std::string> describe(const heap::cold_backing& backing, const cold_room& room);

}  // namespace isotherm::server
