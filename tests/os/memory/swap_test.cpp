#include "os/memory/swap.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "os/memory/address_space.hpp"

namespace isotherm::os {
namespace {

TEST(SwapHeader, HasTheKernelsLayout) {
  const std::size_t page = page_bytes();
  const auto header = swap_header(100 * page);
  ASSERT_EQ(header.size(), page);
  std::uint32_t facts[3];
  std::memcpy(facts, header.data() + 1024, sizeof facts);
  EXPECT_EQ(facts[0], 1U) << "version";
  EXPECT_EQ(facts[1], 99U) << "last page";
  EXPECT_EQ(facts[2], 0U) << "bad pages";
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(header.data()) + page - 10, 10),
            "SWAPSPACE2");
}

TEST(SwapSpace, ThatIsNotThereIsAnErrorWithItsPath) {
  for (const auto& how : {start_swap("/no/such/swap"), stop_swap("/no/such/swap")}) {
    ASSERT_FALSE(how);
    EXPECT_NE(how.error().message.find("/no/such/swap"), std::string::npos);
    EXPECT_TRUE(how.error().code == ENOENT || how.error().code == EPERM);
  }
}

}  // namespace
}  // namespace isotherm::os
