// Memory for the nodes of indexes, which hold guides and never move.
#pragma once

#include <cstddef>

namespace isotherm::heap {

/// Memory for an index node of `bytes`; never moves. Aborts when memory is exhausted.
void* allocate_node(std::size_t bytes, std::size_t alignment = 16) noexcept;
/// Like allocate_node(), filled with zeros; of big memory, pages never written cost nothing.
void* allocate_node_zeroed(std::size_t bytes) noexcept;
void deallocate_node(void* node) noexcept;

}  // namespace isotherm::heap
