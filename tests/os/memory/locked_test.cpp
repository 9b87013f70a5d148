#include "os/memory/locked.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>

#include "os/memory/address_space.hpp"
#include "os/memory/residency.hpp"

namespace isotherm::os {
namespace {

TEST(LockedMemory, IsThereWithoutATouch) {
  constexpr std::size_t kFew = std::size_t{16} << 10;  // within what anybody may lock
  const auto mapped = map_locked(kFew);
  ASSERT_TRUE(mapped) << mapped.error().message;
  EXPECT_EQ(resident_bytes(*mapped, kFew), kFew);
  release(*mapped, kFew);
}

TEST(LockedMemory, BeyondTheAddressSpaceIsAnError) {
  const auto mapped = map_locked(std::size_t{1} << 62);
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().code, ENOMEM);
}

}  // namespace
}  // namespace isotherm::os
