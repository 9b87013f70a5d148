// Ranges of addresses, advice and residency.
#include "os/memory/address_space.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/in_a_child.hpp"
#include "os/memory/residency.hpp"

namespace isotherm::os {
namespace {

constexpr std::size_t kBytes = std::size_t{8} << 20;

TEST(Memory, AReservedRangeIsAlignedAndTakesNoMemory) {
  const auto range = reserve(kBytes, std::size_t{2} << 20);
  ASSERT_TRUE(range);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*range) % (std::size_t{2} << 20), 0U);
  EXPECT_EQ(resident_bytes(*range, kBytes), 0U);
  release(*range, kBytes);
}

TEST(Memory, CommittedPagesAreZeroAndResidentOnceTouched) {
  const auto range = reserve(kBytes, page_bytes());
  ASSERT_TRUE(range);
  ASSERT_TRUE(commit(*range, kBytes / 2));
  EXPECT_EQ((*range)[1], std::byte{0});
  std::memset(*range, 1, 10 * page_bytes());
  EXPECT_EQ(resident_bytes(*range, kBytes), 10 * page_bytes());
  ASSERT_TRUE(advise(*range, kBytes / 2, advice::discard));
  EXPECT_EQ(resident_bytes(*range, kBytes), 0U);
  EXPECT_EQ((*range)[0], std::byte{0});
  release(*range, kBytes);
}

/// Returns whether the calling process can read that byte, of which it has the system make a copy.
bool can_be_read(const std::byte* at) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const ssize_t written = write(ends[1], at, 1);
  EXPECT_TRUE(written == 1 || errno == EFAULT);
  for (const int end : ends) close(end);
  return written == 1;
}

TEST(Memory, DecommittedPagesGoAndCannotBeReadUntilTheyAreCommittedAnew) {
  const auto range = reserve(kBytes, page_bytes());
  ASSERT_TRUE(range);
  EXPECT_FALSE(can_be_read(*range));
  ASSERT_TRUE(commit(*range, kBytes));
  std::memset(*range, 1, kBytes);
  const std::span middle(*range + kBytes / 4, kBytes / 2);
  decommit(middle.data(), middle.size());
  EXPECT_EQ(resident_bytes(*range, kBytes), kBytes / 2);
  EXPECT_FALSE(can_be_read(&middle.front()));
  EXPECT_FALSE(can_be_read(&middle.back()));
  EXPECT_EQ(*(&middle.front() - 1), std::byte{1});
  EXPECT_EQ(*(&middle.back() + 1), std::byte{1});
  decommit(middle.data(), middle.size());  // there may be nothing to do
  ASSERT_TRUE(commit(middle.data(), middle.size()));
  EXPECT_EQ(middle.front(), std::byte{0});
  EXPECT_EQ(middle.back(), std::byte{0});
  release(*range, kBytes);
}

// Locks pages, as mlockall(MCL_CURRENT) does. The system does not discard locked pages.
TEST(Memory, DecommittedPagesGoThoughTheyWereLocked) {
  constexpr std::size_t kFew = std::size_t{16} << 10;  // within what anybody may lock
  const auto range = reserve(kFew, page_bytes());
  ASSERT_TRUE(range);
  ASSERT_TRUE(commit(*range, kFew));
  ASSERT_EQ(mlock(*range, kFew), 0);
  std::memset(*range, 1, kFew);
  decommit(*range, kFew);
  EXPECT_EQ(resident_bytes(*range, kFew), 0U);
  ASSERT_TRUE(commit(*range, kFew));
  EXPECT_EQ(resident_bytes(*range, kFew), 0U) << "it is not locked any more";
  EXPECT_EQ((*range)[0], std::byte{0});
  release(*range, kFew);
}

TEST(Memory, TellsWhichPagesAreThere) {
  const auto range = reserve(kBytes, page_bytes());
  ASSERT_TRUE(range);
  ASSERT_TRUE(commit(*range, kBytes));
  (*range)[page_bytes()] = std::byte{1};
  (*range)[3 * page_bytes()] = std::byte{1};
  EXPECT_EQ(resident_pages(*range, 5), (std::vector<bool>{false, true, false, true, false}));
  release(*range, kBytes);
}

// In a child, since the locking of what is mapped from now on cannot be asked back alone.
TEST(Memory, ARangeIsNotLockedThoughAllThatIsMappedLaterIsToBe) {
  constexpr std::size_t kFew = std::size_t{16} << 10;  // within what anybody may lock
  EXPECT_TRUE(testing_help::succeeds_in_a_child([] {
    if (mlockall(MCL_FUTURE) != 0) return 1;
    const auto range = reserve(kFew, page_bytes());
    if (!range || !commit(*range, kFew)) return 2;
    return resident_bytes(*range, kFew) == 0U ? 0 : 3;
  }));
}

// In a child, since the mappings are of no use to other tests.
TEST(Memory, PagesAreGivenBackThoughTheirMappingCannotBeSplit) {
  EXPECT_TRUE(testing_help::succeeds_in_a_child([] {
    const std::size_t page = page_bytes();
    void* const locked = map_memory(4 * page);
    if (locked == nullptr || mlock(locked, 4 * page) != 0) return 1;
    std::memset(locked, 1, 4 * page);  // AddressSanitizer locks nothing
    constexpr std::size_t kMappings = 1 << 20;
    const auto many = reserve(2 * kMappings * page, page);
    if (!many) return 2;
    std::size_t made = 0;
    while (made < kMappings && commit(*many + 2 * made * page, page)) ++made;
    if (made == kMappings) return 0;  // the system sets no limit
    release(static_cast<std::byte*>(locked) + page, page);
    return resident_bytes(locked, 4 * page) == 3 * page ? 0 : 3;
  }));
}

TEST(Memory, ARangeBeyondTheAddressSpaceIsRefused) {
  const auto range = reserve(std::size_t{1} << 60, page_bytes());
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().code, ENOMEM);
}

TEST(Memory, FailuresCarryTheirErrno) {
  const auto range = reserve(kBytes, page_bytes());
  ASSERT_TRUE(range);
  release(*range, kBytes);
  EXPECT_EQ(advise(*range, kBytes, advice::cold).error().code, ENOMEM);
  EXPECT_EQ(commit(*range, kBytes).error().code, ENOMEM);
  EXPECT_EQ(resident_bytes(*range, kBytes).error().code, ENOMEM);
  EXPECT_EQ(resident_pages(*range, 1).error().code, ENOMEM);
}

}  // namespace
}  // namespace isotherm::os
