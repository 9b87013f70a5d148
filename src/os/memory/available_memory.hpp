// How much memory this process may still take: what the system has, what the control groups that it
// is in leave, and what its own limit of address space leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isotherm::os {

/// Bytes that this process could take without taking them from others: the least of all limits.
std::uint64_t available_memory();

/// Bytes that this process's limit of address space (ulimit -v) leaves; nullopt: no limit.
std::optional<std::uint64_t> address_space_room();
/// Address space that the stack of a new thread takes.
std::uint64_t thread_stack_bytes();

/// Bytes that the memory control groups named in `membership` (the text of /proc/self/cgroup)
/// leave, all of their parents included; file pages that the kernel would give back count as free.
/// Both versions of control groups, under `mount` (/sys/fs/cgroup). nullopt: no limit.
std::optional<std::uint64_t> control_group_room(std::string_view membership,
                                                const std::string& mount);
/// Bytes that this process's groups leave, where the system has them.
std::optional<std::uint64_t> control_group_room();

}  // namespace isotherm::os
