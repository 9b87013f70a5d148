// Memory nodes. Every machine with memory has the node 0.
#include "os/memory/numa.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "os/memory/address_space.hpp"

namespace isotherm::os {
namespace {

using ::testing::HasSubstr;

class Numa : public testing::Test {
 protected:
  void TearDown() override { release(memory_, kBytes); }
  static constexpr std::size_t kBytes = std::size_t{2} << 20;
  std::byte* const memory_ = static_cast<std::byte*>(map_memory(kBytes));
};

TEST_F(Numa, ANodeWithMemoryIsUsable) {
  const auto usable = check_node(0);
  EXPECT_TRUE(usable) << usable.error().message;
}

TEST_F(Numa, AMissingNodeIsRefusedWithTheNodesThereAre) {
  for (const unsigned missing : {1023U, 1024U, ~0U}) {
    const auto usable = check_node(missing);
    ASSERT_FALSE(usable);
    EXPECT_THAT(usable.error().message,
                HasSubstr("there is no memory node " + std::to_string(missing) +
                          "; nodes with memory here: 0"));
  }
}

TEST_F(Numa, PagesAreMadeOnTheNode) {
  ASSERT_TRUE(prefer_node(memory_, kBytes, 0));
  const auto made = populate_on_node(memory_, kBytes, 0);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(memory_[kBytes - 1], std::byte{0});
  memory_[0] = std::byte{7};
  ASSERT_TRUE(populate_on_node(memory_, kBytes, 0));
  EXPECT_EQ(memory_[0], std::byte{7}) << "pages that are present stay as they are";
}

// A full node is met in this way: its policy prefers it, and pages of other nodes come.
TEST_F(Numa, PagesOfAnotherNodeAreFound) {
  const auto made = populate_on_node(memory_, kBytes, 1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ENOMEM);
  EXPECT_EQ(made.error().message, "memory node 1 has no free memory");
}

constexpr std::size_t kPage = 4096;

/// Addresses of the first two pages from `begin` on.
std::array<std::uintptr_t, 2> two_pages(const std::byte* begin) {
  return {reinterpret_cast<std::uintptr_t>(begin), reinterpret_cast<std::uintptr_t>(begin) + kPage};
}

TEST_F(Numa, APageIsOnANodeOnceItIsTouched) {
  EXPECT_FALSE(node_of(memory_));
  *memory_ = std::byte{1};
  const auto node = node_of(memory_ + 1);
  ASSERT_TRUE(node);
  const auto found = nodes_of(::getpid(), two_pages(memory_));
  EXPECT_EQ(found[0], static_cast<int>(*node));
  EXPECT_LT(found[1], 0);
}

TEST_F(Numa, APageThatLiesThereCountsAsMoved) {
  *memory_ = std::byte{1};
  EXPECT_EQ(move_to_node(::getpid(), two_pages(memory_), *node_of(memory_)), 1U);
}

}  // namespace
}  // namespace isotherm::os
