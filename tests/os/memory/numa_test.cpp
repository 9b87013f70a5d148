#include "os/memory/numa.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "os/memory/address_space.hpp"

namespace isotherm::os {
namespace {

constexpr std::size_t kPage = 4096;

TEST(Numa, APageIsOnANodeOnceItIsTouched) {
  char* const begin = static_cast<char*>(map_memory(2 * kPage));
  ASSERT_NE(begin, nullptr);
  EXPECT_FALSE(node_of(begin));
  *begin = 1;
  const auto node = node_of(begin + 1);
  ASSERT_TRUE(node);
  const std::array pages{reinterpret_cast<std::uintptr_t>(begin),
                         reinterpret_cast<std::uintptr_t>(begin) + kPage};
  const auto found = nodes_of(::getpid(), pages);
  EXPECT_EQ(found[0], static_cast<int>(*node));
  EXPECT_LT(found[1], 0);
  release(begin, 2 * kPage);
}

TEST(Numa, APageThatLiesThereCountsAsMoved) {
  char* const begin = static_cast<char*>(map_memory(2 * kPage));
  ASSERT_NE(begin, nullptr);
  *begin = 1;
  const std::array pages{reinterpret_cast<std::uintptr_t>(begin),
                         reinterpret_cast<std::uintptr_t>(begin) + kPage};
  EXPECT_EQ(move_to_node(::getpid(), pages, *node_of(begin)), 1U);
  release(begin, 2 * kPage);
}

}  // namespace
}  // namespace isotherm::os
