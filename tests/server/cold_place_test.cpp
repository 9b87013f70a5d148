// Where COLD lies without a word from the operator, and what he is told.
#include "server/management/cold_place.hpp"

#include <gmock/gmock.h>

#include "os/faults.hpp"

namespace isotherm::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
using type = heap::cold_backing::type;

cold_room swap(std::uint64_t bytes) {
  return {.swap_bytes = bytes, .disk_bytes = std::nullopt, .memory_bytes = kGiB};
}
cold_room disk(std::uint64_t bytes) {
  return {.swap_bytes = 0, .disk_bytes = bytes, .memory_bytes = 2 * kGiB};
}
heap::cold_backing file_in(std::string directory) {
  return {.where = type::file, .directory = std::move(directory)};
}

TEST(ColdPlace, IsTheServicesOwnDirectoryFirst) {
  EXPECT_THAT(cold_directories(nullptr), ElementsAre("/var/tmp"));
  EXPECT_THAT(cold_directories(""), ElementsAre("/var/tmp"));
  EXPECT_THAT(cold_directories("/var/lib/store"), ElementsAre("/var/lib/store", "/var/tmp"));
  EXPECT_THAT(cold_directories("/var/lib/store:/var/lib/more"),
              ElementsAre("/var/lib/store", "/var/tmp"));
}

TEST(ColdPlace, IsTheFirstDirectoryThatCanTakeAFile) {
  const cold_place first = find_cold_place({"/var/tmp", "/nowhere"});
  EXPECT_EQ(first.backing.where, type::file);
  EXPECT_EQ(first.backing.directory, "/var/tmp");
  EXPECT_THAT(first.refused, IsEmpty());

  const cold_place third = find_cold_place({"/dev/shm", "/nowhere", "/var/tmp"});
  EXPECT_EQ(third.backing.where, type::file);
  EXPECT_EQ(third.backing.directory, "/var/tmp");
  EXPECT_THAT(third.refused, ElementsAre(AllOf(HasSubstr("/dev/shm"), HasSubstr("tmpfs")),
                                         AllOf(HasSubstr("/nowhere"), HasSubstr("not exist"))));
}

TEST(ColdPlace, IsAnonymousMemoryWhereNoDirectoryCan) {
  const cold_place none = find_cold_place({"/nowhere", "/dev/shm"});
  EXPECT_EQ(none.backing.where, type::anon);
  EXPECT_EQ(none.refused.size(), 2u);
}

TEST(ColdPlace, OnlyAnonymousMemoryWithoutSwapCannotLeaveDram) {
  EXPECT_FALSE(can_leave_dram({}, swap(0)));
  EXPECT_TRUE(can_leave_dram({}, swap(1)));
  EXPECT_TRUE(can_leave_dram(file_in("/var/tmp"), swap(0)));
}

TEST(ColdPlace, IsToldInOneLine) {
  EXPECT_THAT(describe({}, swap(0)),
              ElementsAre(AllOf(HasSubstr("stay in DRAM"), HasSubstr("--cold-backing file:DIR"))));
  EXPECT_THAT(describe({}, swap(kGiB)), ElementsAre("cold bytes leave DRAM for swap"));
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
  EXPECT_EQ(measure_cold_room({}).disk_bytes, std::nullopt);
  os::set_free_space({});
  EXPECT_GT(measure_cold_room({}).memory_bytes, 0u);
}

}  // namespace
}  // namespace isotherm::server
