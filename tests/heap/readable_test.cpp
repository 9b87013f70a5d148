// Objects on pages that the disk does not give back. COLD is a file here, which is cut; a program
// of its own, since heaps are configured once.
#include "heap/readable.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "heap/configure.hpp"
#include "heap/object.hpp"
#include "heap/packed/extent.hpp"
#include "heap/ranges.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/truncate_cold.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::heap {
namespace {

constexpr std::size_t kObjectBytes = 10'000;  // several pages
constexpr std::size_t kKept = 4 * kExtentBytes;

int passed_on = 0;
void* other_page = nullptr;
/// Gives the page that was asked for, so that the access succeeds.
void count_and_map(int, siginfo_t*, void*) {
  ++passed_on;
  mmap(other_page, os::page_bytes(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

class Unreadable : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    struct sigaction own = {};
    own.sa_sigaction = &count_and_map;
    own.sa_flags = SA_SIGINFO;
    ASSERT_EQ(sigaction(SIGBUS, &own, nullptr), 0);
    const testing_help::temporary_directory directory;
    options chosen;
    chosen.range_bytes = std::size_t{1} << 30;
    chosen.cold = *cold_backing::parse("file:" + directory.path());
    chosen.catch_read_errors = true;
    const auto configured = configure(chosen);
    ASSERT_TRUE(configured) << configured.error().message;
    for (std::size_t i = 0; i < 8 * kExtentBytes / kObjectBytes; ++i) {
      void* object = allocate(kind::cold, kObjectBytes);
      ASSERT_NE(object, nullptr);
      std::memset(object, static_cast<int>(i % 255), kObjectBytes);
      objects.push_back(object);
    }
    ASSERT_TRUE(testing_help::truncate_cold(directory.path(), kKept));
  }
  static bool is_kept(const void* object) {
    return reinterpret_cast<std::uintptr_t>(object) + kObjectBytes <=
           range_of(kind::cold).begin + kKept;
  }
  static inline std::vector<void*> objects;
};

TEST_F(Unreadable, EachLookTellsItAndNoOtherObjectIsTouched) {
  for (int look = 0; look < 2; ++look) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const std::uint64_t before = lost_reads();
      const bool kept = is_kept(objects[i]);
      ASSERT_EQ(is_readable(objects[i]), kept) << i;
      ASSERT_EQ(lost_reads() - before, kept ? 0U : 1U);
      if (kept) {
        const auto* at = static_cast<const unsigned char*>(objects[i]);
        ASSERT_EQ(at[0], i % 255);
        ASSERT_EQ(at[kObjectBytes - 1], i % 255);
      }
    }
  }
}

TEST_F(Unreadable, HasNoSizeAndCanBeFreed) {
  EXPECT_EQ(object_size(objects.back()), 0U);
  const usage before = usage_of(kind::cold, residency::left_out);
  const std::uint64_t live = packing_of(kind::cold).live_bytes;
  const std::uint64_t lost = lost_reads();
  deallocate(objects.back());
  objects.pop_back();
  EXPECT_EQ(lost_reads(), lost) << "its reader did not ask for it";
  EXPECT_EQ(usage_of(kind::cold, residency::left_out).objects, before.objects - 1);
  EXPECT_LE(packing_of(kind::cold).live_bytes + kObjectBytes, live) << "its room is free again";
  EXPECT_TRUE(is_valid());
}

TEST_F(Unreadable, RoomOnSuchAPageIsNotHandedOut) {
  // The open extent lies beyond the cut.
  for (int i = 0; i < 10; ++i) {
    if (void* object = allocate(kind::cold, 100)) EXPECT_TRUE(is_readable(object));
  }
}

TEST_F(Unreadable, OtherMappingsAreTheirOwnHandlersBusiness) {
  FILE* const file = tmpfile();
  ASSERT_NE(file, nullptr);
  other_page = mmap(nullptr, os::page_bytes(), PROT_READ, MAP_SHARED, fileno(file), 0);
  ASSERT_NE(other_page, MAP_FAILED);
  EXPECT_EQ(*static_cast<volatile char*>(other_page), 0);  // the file is empty
  EXPECT_EQ(passed_on, 1);
  munmap(other_page, os::page_bytes());
  fclose(file);
}

}  // namespace
}  // namespace isotherm::heap
