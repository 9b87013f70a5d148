#include "heap/node.hpp"

#include <bit>

#include "base/check.hpp"
#include "heap/local.hpp"
#include "heap/ranges.hpp"

namespace isotherm::heap {
namespace {

/// Counts a node just allocated.
void* counted_node(void* node, local_state& mine) noexcept {
  ISO_CHECK(node != nullptr, "memory for index nodes is exhausted");
  mine.count(kind::node, 1, arena::usable_bytes(node));
  return node;
}

}  // namespace

void* allocate_node(std::size_t bytes, std::size_t alignment) noexcept {
  ISO_CHECK(std::has_single_bit(alignment), "an alignment is a power of two");
  heap_set& set = heaps();
  local_state& mine = local();
  return counted_node(set.node.allocate(bytes == 0 ? 1 : bytes, alignment, mine.node_cache_flags),
                      mine);
}

void* allocate_node_zeroed(std::size_t bytes) noexcept {
  heap_set& set = heaps();
  local_state& mine = local();
  return counted_node(set.node.allocate_zeroed(bytes == 0 ? 1 : bytes, mine.node_cache_flags),
                      mine);
}

void deallocate_node(void* node) noexcept {
  heap_set& set = heaps();
  local_state& mine = local();
  const std::size_t bytes = arena::usable_bytes(node);
  mine.count(kind::node, ~std::uint64_t{0}, std::uint64_t{0} - bytes);
  set.node.deallocate(node, bytes, mine.node_cache_flags);
}

}  // namespace isotherm::heap
