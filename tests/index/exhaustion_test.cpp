// Memory is exhausted while nodes are locked: an exception there would leave them locked, and a
// thread that comes by waiting for ever.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "index/masstree/nodes.hpp"
#include "sync/scope.hpp"

namespace {
thread_local bool is_memory_exhausted = false;
}

void* operator new(std::size_t size) {
  void* const memory = is_memory_exhausted ? nullptr : std::malloc(size > 0 ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace isotherm::index {
namespace {

using masstree_detail::border;
using masstree_detail::kTestMemory;
using masstree_detail::removal;
using masstree_detail::version;
using masstree_detail::wanted;

/// Runs `work` in a scope, with no memory to be had.
template <class Work>
auto without_memory(Work work) {
  access inside;
  is_memory_exhausted = true;
  const auto result = work();
  is_memory_exhausted = false;
  return result;
}

// The second border node is its parent's only child: the parent goes as well.
TEST(MasstreeExhaustion, ANodeAndItsParentsGoWithoutMemory) {
  const masstree_detail::two_lonely_nodes nodes;
  EXPECT_EQ(
      without_memory([&] { return masstree_detail::remove_border(nodes.second, kTestMemory); }),
      removal::done);
  EXPECT_EQ(nodes.top->count.load_acquire(), 0u);
}

TEST(MasstreeExhaustion, ALayerGoesWithoutMemory) {
  border* const upper = kTestMemory.make_border(version::kRoot, masstree_detail::kSlots, {});
  const wanted sought(7, masstree_detail::kGoesOn);
  upper->insert(sought, masstree_detail::link_to(kTestMemory.make_border(
                            version::kRoot, masstree_detail::kFewSlots, {.level = 1})));
  EXPECT_EQ(
      without_memory([&] { return masstree_detail::remove_layer(upper, sought, kTestMemory); }),
      removal::done);
  EXPECT_EQ(upper->order().count(), 0u);
  kTestMemory.free(upper);
}

}  // namespace
}  // namespace isotherm::index
