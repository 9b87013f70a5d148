#include "collector/memory/memory_room.hpp"

#include <algorithm>

#include "heap/allocator.hpp"
#include "os/memory/available_memory.hpp"

namespace isotherm::collector {

namespace {
/// Returns how many of the bytes that a control group allows are left to memory that this process
/// does not count, and to data that is in memory twice while it moves: an eighth; beyond 128 MiB,
/// 16 MiB until a sixteenth is more.
constexpr std::uint64_t margin_of(std::uint64_t allowed) noexcept {
  constexpr std::uint64_t kMost = std::uint64_t{16} << 20;
  return std::max(allowed / 16, std::min(allowed / 8, kMost));
}
/// The first version of control groups says so where there is no limit.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;
}  // namespace

heap::usage warm_memory() {
  heap::usage sum;
  for (const heap::kind where : {heap::kind::newborn, heap::kind::hot}) {
    const heap::usage one = heap::usage_of(where, heap::residency::left_out);
    sum.objects += one.objects;
    sum.bytes += one.bytes;
    sum.extent_bytes += one.extent_bytes;
  }
  return sum;
}

memory_room memory_room_of(std::uint64_t asked_bytes, const os::resident_set& resident,
                           std::uint64_t free_bytes, std::optional<std::uint64_t> group_room) {
  const std::uint64_t free = std::min(free_bytes, resident.all_bytes);
  memory_room found{resident.all_bytes - free, asked_bytes, asked_bytes};
  if (!group_room || *group_room > kNoLimit) return found;
  // The group gives files' pages back by itself, so they do not count against its limit.
  const std::uint64_t kept = resident.all_bytes - std::min(resident.all_bytes, resident.file_bytes);
  const std::uint64_t allowed = kept + *group_room;
  const std::uint64_t all = allowed - margin_of(allowed) + resident.file_bytes;
  const std::uint64_t within_group = all - std::min(all, free);
  if (asked_bytes == 0 || within_group < asked_bytes)
    found.target_bytes = found.limit_bytes = within_group;
  return found;
}

memory_room read_memory_room(std::uint64_t asked_bytes) {
  // An object that moves to a direct COLD stays within the limit of a group that counts COLD.
  const auto group_room =
      heap::cold_is_direct_and_charged() ? std::nullopt : os::control_group_room();
  return memory_room_of(asked_bytes, heap::dram_set(), heap::allocator_free_bytes(), group_room);
}

base::result<void> check_on_this_machine(const options& chosen) {
  if (auto valid = check(chosen); !valid) return valid;
  if (chosen.cold_device && !heap::cold_is_direct()) {
    return std::unexpected(base::error{
        "a profile of COLD's device needs COLD on a memory node or behind DAX (node:N, dax:PATH)"});
  }
  if (chosen.memory_target_bytes == 0 || !holds_a_target(chosen)) return {};
  if (heap::cold_can_leave_dram()) return {};
  return std::unexpected(
      base::error{"a memory target needs a COLD that can leave DRAM, and anonymous memory cannot "
                  "without swap: add swap or zram, or place COLD in a file (file:DIR)"});
}

bool holds_a_target(const options& chosen) noexcept {
  return chosen.policy == policy_name::budget && chosen.manage == mode::on;
}

std::uint64_t target_now(const options& chosen) {
  return holds_a_target(chosen) ? read_memory_room(chosen.memory_target_bytes).target_bytes : 0;
}

}  // namespace isotherm::collector
