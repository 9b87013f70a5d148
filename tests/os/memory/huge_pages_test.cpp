#include "os/memory/huge_pages.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstring>
#include <set>

#include "os/memory/address_space.hpp"

namespace isotherm::os {
namespace {

constexpr std::size_t kBytes = 4 * kHugePageBytes;

/// Memory that was touched, with the advice that `advise` gives.
class touched_memory {
 public:
  template <class Advise>
  explicit touched_memory(Advise advise) : begin_(reserve(kBytes, kHugePageBytes).value()) {
    EXPECT_TRUE(commit(begin_, kBytes).has_value());
    advise(begin_);
    std::memset(begin_, 1, kBytes);
  }
  touched_memory(const touched_memory&) = delete;
  touched_memory& operator=(const touched_memory&) = delete;
  ~touched_memory() { release(begin_, kBytes); }

  std::uint64_t huge_bytes() const {
    const auto from = reinterpret_cast<std::uintptr_t>(begin_);
    return huge_bytes_in(from, from + kBytes);
  }

 private:
  std::byte* begin_;
};

TEST(HugePages, DoNotComeWhereTheyAreKeptOut) {
  const touched_memory memory(
      [](void* begin) { EXPECT_TRUE(keep_pages_small(begin, kBytes).has_value()); });
  EXPECT_EQ(memory.huge_bytes(), 0U);
}

TEST(HugePages, ComeWhereTheyAreWantedAndAllowed) {
  const touched_memory memory([](void* begin) {
    static_cast<void>(advise(begin, kBytes, advice::huge));  // fails on a kernel without them
  });
  const std::string setting = huge_page_setting();
  EXPECT_TRUE((std::set<std::string>{"always", "madvise", "never", "absent"}.contains(setting)))
      << setting;
  const bool is_allowed = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0;
  if (setting == "never" || setting == "absent" || !is_allowed) {
    EXPECT_EQ(memory.huge_bytes(), 0U);
  }
  EXPECT_EQ(memory.huge_bytes() % kHugePageBytes, 0U);
  EXPECT_LE(memory.huge_bytes(), kBytes);
}

TEST(HugePages, OnlyMappingsThatMeetTheRangeCount) { EXPECT_EQ(huge_bytes_in(0, 1), 0U); }

}  // namespace
}  // namespace isotherm::os
