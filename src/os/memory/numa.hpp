// Memory nodes of a machine with several: DRAM beside each socket, CXL memory without processors.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace isotherm::os {

/// Fails, with one line that says what to do, where this process cannot place pages on the memory
/// node of that number: there is none, it has no memory, or the process may not use it.
base::result<void> check_node(unsigned node);

/// Pages of the range that are touched from now on come from the memory node of that number, as
/// long as it has some, and then from others. Whole pages. The kernel does not move them by itself
/// to another node for the sake of their use (numa_balancing). Fails where there is no such node.
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
/// Makes all pages of the range present, on the memory node that prefer_node() named for them, and
/// zeroed where they are new. Fails with ENOMEM where the node has no room for all of them: some
/// may then be present, also elsewhere. Whole pages; about 0.1 ms a MiB.
base::result<void> populate_on_node(void* begin, std::size_t bytes, unsigned node);

/// Writes to `nodes`, which has as many elements, the memory node of each of the pages that begin
/// at `pages`; a negative number for a page that is not there. Some ten nanoseconds a page.
base::result<void> find_nodes(std::span<void* const> pages, std::span<int> nodes);

}  // namespace isotherm::os
