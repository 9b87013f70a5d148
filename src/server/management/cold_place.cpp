#include "server/management/cold_place.hpp"

#include <fmt/format.h>

#include "os/files/file_system.hpp"
#include "os/memory/available_memory.hpp"
#include "os/memory/swap.hpp"
#include "store/text.hpp"

namespace isotherm::server {

cold_room measure_cold_room(const heap::cold_backing& backing) {
  cold_room room{.swap_bytes = os::read_swap_space().total_bytes,
                 .disk_bytes = std::nullopt,
                 .memory_bytes = os::available_memory()};
  const std::string directory = backing.describe().directory;
  if (directory.empty()) return room;
  if (const auto free = os::free_space(directory)) room.disk_bytes = *free;
  return room;
}

bool can_leave_dram(const heap::cold_backing& backing, const cold_room& room) {
  return !backing.describe().needs_swap || room.swap_bytes > 0;
}

std::vector<std::string> describe(const heap::cold_backing& backing, const cold_room& room) {
  if (!can_leave_dram(backing, room)) {
    return {
        "cold bytes stay in DRAM, as there is no swap: add swap or zram, or give --cold-backing "
        "file:DIR with a directory on a disk"};
  }
  const heap::backing_description place = backing.describe();
  std::vector<std::string> lines = {"cold bytes leave DRAM for " + place.leaves_for};
  if (room.disk_bytes && *room.disk_bytes < room.memory_bytes) {
    lines.push_back(
        fmt::format("{} has {} free, less than the {} of memory that this process may take: what "
                    "finds no room stays in DRAM",
                    place.directory, store::human_bytes(*room.disk_bytes),
                    store::human_bytes(room.memory_bytes)));
  }
  return lines;
}

}  // namespace isotherm::server
