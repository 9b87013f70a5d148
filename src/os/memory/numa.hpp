// Memory nodes of a machine with several.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace isotherm::os {

/// Pages of the range that are touched from now on come from the memory node of that number, as
/// long as it has some, and then from others. Whole pages. Fails where there is no such node.
base::result<void> prefer_node(void* begin, std::size_t bytes, unsigned node);

/// Returns the memory node that holds the page of an address of this process now. Does not touch
/// the page. nullopt: no memory holds it, or the kernel does not tell. Thread-safe; a system call.
std::optional<unsigned> node_of(const void* address) noexcept;

/// Returns the nodes of pages of another process, by their addresses; negative for a page that no
/// memory holds, for all where the process is gone or not ours to ask.
std::vector<int> nodes_of(pid_t process, std::span<const std::uintptr_t> pages);
/// Moves pages of another process to a node, and returns how many lie there then. Pages that are in
/// use elsewhere, or find no room, stay. Needs root.
std::size_t move_to_node(pid_t process, std::span<const std::uintptr_t> pages, unsigned node);

}  // namespace isotherm::os
