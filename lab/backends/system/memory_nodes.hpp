// Memory nodes of the machine, as tiers: those with processors are fast.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace isotherm::lab {

/// Numbers of the nodes that have memory.
struct memory_nodes {
  std::vector<unsigned> fast;  ///< with processors
  std::vector<unsigned> slow;  ///< without; empty on a machine without tiers
};

/// Reads a list of nodes, "0-1,3".
std::vector<unsigned> parse_nodes(const std::string& list);

/// Returns the nodes of this machine; none where the kernel does not tell.
memory_nodes find_memory_nodes();

/// Physical addresses of a node's memory, in bytes, holes included.
struct physical_range {
  std::uint64_t begin, end;
};
/// Finds the memory of a node in the text of /proc/zoneinfo. nullopt: the node has none.
std::optional<physical_range> physical_memory_of(unsigned node, const std::string& zones);

}  // namespace isotherm::lab
