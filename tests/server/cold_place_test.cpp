// The lines about the place of COLD that an operator reads at the start.
#include "server/management/cold_place.hpp"

#include <gmock/gmock.h>

#include "os/faults.hpp"

namespace isotherm::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
const heap::cold_backing kAnonymous = *heap::cold_backing::parse("anon");

cold_room swap(std::uint64_t bytes) {
  return {.swap_bytes = bytes, .disk_bytes = std::nullopt, .memory_bytes = kGiB};
}
cold_room disk(std::uint64_t bytes) {
  return {.swap_bytes = 0, .disk_bytes = bytes, .memory_bytes = 2 * kGiB};
}
heap::cold_backing file_in(const std::string& directory) {
  return *heap::cold_backing::parse("file:" + directory);
}

TEST(ColdPlace, OnlyAnonymousMemoryWithoutSwapCannotLeaveDram) {
  EXPECT_FALSE(can_leave_dram(kAnonymous, swap(0)));
  EXPECT_TRUE(can_leave_dram(kAnonymous, swap(1)));
  EXPECT_TRUE(can_leave_dram(file_in("/var/tmp"), swap(0)));
}

TEST(ColdPlace, IsToldInOneLine) {
  EXPECT_THAT(describe(kAnonymous, swap(0)),
              ElementsAre(AllOf(HasSubstr("stay in DRAM"), HasSubstr("--cold-backing file:DIR"))));
  EXPECT_THAT(describe(kAnonymous, swap(kGiB)), ElementsAre("cold bytes leave DRAM for swap"));
  EXPECT_THAT(describe(file_in("/var/tmp"), disk(2 * kGiB)),
              ElementsAre("cold bytes leave DRAM for an unlinked file in /var/tmp, of which "
                          "nothing stays behind"));
}

TEST(ColdPlace, TellsOfADiskWithLessRoomThanMemory) {
  EXPECT_THAT(describe(file_in("/var/tmp"), disk(kGiB)),
              ElementsAre(HasSubstr("unlinked file"),
                          AllOf(HasSubstr("/var/tmp has 1.00G free"), HasSubstr("2.00G"))));
}

TEST(ColdPlace, MeasuresTheDiskOfAFileOnly) {
  os::set_free_space(12345);
  EXPECT_EQ(measure_cold_room(file_in("/var/tmp")).disk_bytes, 12345u);
  EXPECT_EQ(measure_cold_room(kAnonymous).disk_bytes, std::nullopt);
  os::set_free_space({});
  EXPECT_GT(measure_cold_room(kAnonymous).memory_bytes, 0u);
}

}  // namespace
}  // namespace isotherm::server
