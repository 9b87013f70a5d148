// Memory behind a path. tmpfs stands for a file system with DAX: a mapping is the memory itself.
#include "os/files/dax.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "heap/temporary_directory.hpp"
#include "os/faults.hpp"
#include "os/files/mapping.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::os {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;

std::string refusal_of(const std::string& path) {
  const auto opened = open_dax(path, kLeast);
  return opened ? "accepted" : opened.error().message;
}

std::ptrdiff_t entries_of(const std::string& directory) {
  using entries = std::filesystem::directory_iterator;
  return std::distance(entries(directory), entries());
}

TEST(Dax, AFileInTmpfsIsMemoryAndLeavesNothingBehind) {
  const auto before = entries_of("/dev/shm");
  const auto opened = open_dax("/dev/shm", kLeast);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_FALSE(opened->is_device());
  EXPECT_TRUE(opened->is_charged) << "control groups count the pages of tmpfs";
  ASSERT_TRUE(opened->memory.take_space(0, kLeast));
  const auto range = reserve(2 * kLeast, page_bytes());
  ASSERT_TRUE(range);
  ASSERT_TRUE(map_over(*range, kLeast, opened->memory));
  std::memset(*range, 7, kLeast);
  std::byte last{};
  ASSERT_TRUE(opened->memory.read({&last, 1}, kLeast - 1));
  EXPECT_EQ(last, std::byte{7}) << "the mapping is the file";
  release(*range, 2 * kLeast);
  EXPECT_EQ(entries_of("/dev/shm"), before);
}

TEST(Dax, OtherPathsAreRefusedInOneLine) {
  const testing_help::temporary_directory on_disk;
  const std::string file = on_disk.path() + "/precious";
  std::ofstream(file) << "data";
  EXPECT_EQ(refusal_of("/no/such"), "'/no/such' does not exist: name a DAX device or a directory");
  EXPECT_EQ(refusal_of("/dev/null"),
            "'/dev/null' is no DAX device: name one as /dev/dax0.0, or a directory");
  EXPECT_THAT(refusal_of(file), HasSubstr("is neither a DAX device nor a directory"));
  EXPECT_EQ(std::filesystem::file_size(file), 4U) << "a file keeps its content";
  EXPECT_THAT(refusal_of(on_disk.path()), HasSubstr("is on a file system without DAX"));
  EXPECT_EQ(entries_of(on_disk.path()), 1);
}

TEST(Dax, AFileSystemWithTooLittleRoomIsRefused) {
  set_free_space(kLeast - 1);
  EXPECT_THAT(refusal_of("/dev/shm"), HasSubstr("COLD needs 1mb at least: make room"));
  set_free_space({});
}

TEST(Dax, ADirectoryThatIsNotWritableIsRefused) {
  set_fault_hook([](io_call call) { return call == io_call::create ? EACCES : 0; });
  EXPECT_THAT(refusal_of("/dev/shm"), HasSubstr("'/dev/shm' is not permitted to this process"));
  set_fault_hook({});
}

}  // namespace
}  // namespace isotherm::os
