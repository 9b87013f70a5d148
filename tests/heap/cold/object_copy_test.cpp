// Copies of objects of a COLD in a file.
#include "heap/cold/object_copy.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "heap/cold/objects_out.hpp"
#include "heap/cold/refusing_aligned_alloc.hpp"
#include "heap/packed/extent.hpp"
#include "os/faults.hpp"

namespace isotherm::heap {
namespace {

using testing_help::objects_out;

class ObjectCopy : public testing_help::with_readers<testing::Test> {
 protected:
  ~ObjectCopy() override { testing_help::refuses_pages = false; }
};

TEST_F(ObjectCopy, EqualsTheObject) {
  for (const std::size_t bytes : {1UL, 700UL, 2500UL, 5000UL, 1'000'000UL, 5'000'000UL}) {
    const objects_out objects(bytes < 10'000 ? 100 : 2, bytes);
    std::size_t on_two_pages = 0;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      on_two_pages += heaps().cold().place_of(objects[i]).bytes > base::kPageBytes ? 1 : 0;
      const auto copy = object_copy::read(objects[i]);
      ASSERT_TRUE(copy) << bytes;
      ASSERT_TRUE(objects.is_copy(copy->object(), i)) << bytes << ": " << i;
      ASSERT_TRUE(is_out(objects[i])) << "the object stays where it is";
    }
    EXPECT_TRUE(bytes <= 700 ? on_two_pages == 0 : on_two_pages > 0) << bytes;
  }
}

TEST_F(ObjectCopy, LivesAsLongAsItIsKept) {
  std::optional<object_copy> kept;
  {
    const objects_out objects(1, 3000);
    kept.emplace(std::move(*object_copy::read(objects[0])));
    const object_copy moved = std::move(*kept);
    EXPECT_TRUE(objects.is_copy(moved.object(), 0));
    kept.emplace(std::move(*object_copy::read(objects[0])));
  }
  const void* const object = kept->object();
  void* const memory = kept->release();
  kept.reset();
  EXPECT_EQ(header_of(object)->bytes, 3000u);
  EXPECT_LT(static_cast<const std::byte*>(object) - static_cast<const std::byte*>(memory),
            static_cast<std::ptrdiff_t>(base::kPageBytes));
  std::free(memory);
}

TEST_F(ObjectCopy, IsCountedAsAReadOfItsPages) {
  const objects_out objects(1, 5000);
  const cold_read_statistics before = cold_reads();
  ASSERT_TRUE(object_copy::read(objects[0]));
  os::set_fault_hook([](os::io_call call) { return call == os::io_call::read ? EIO : 0; });
  ASSERT_FALSE(object_copy::read(objects[0]));
  const cold_read_statistics now = cold_reads();
  EXPECT_EQ(now.misses - before.misses, 2u);
  EXPECT_EQ(now.reads - before.reads, 2u);
  EXPECT_EQ(now.failed_reads - before.failed_reads, 1u);
  EXPECT_EQ(now.requested_bytes - before.requested_bytes, 2 * room_of(objects[0]));
  EXPECT_EQ(now.read_bytes - before.read_bytes, 2 * heaps().cold().place_of(objects[0]).bytes);
  EXPECT_EQ(now.under_way, 0u);
}

TEST_F(ObjectCopy, FailsAsItsReadDoes) {
  const objects_out objects(1, 5000);
  for (const int code : {EIO, ENOMEM, EINVAL}) {
    os::set_fault_hook([code](os::io_call call) { return call == os::io_call::read ? code : 0; });
    const auto copy = object_copy::read(objects[0]);
    os::set_fault_hook({});
    ASSERT_FALSE(copy);
    EXPECT_EQ(copy.error(), code);
  }
  EXPECT_TRUE(object_copy::read(objects[0])) << "once the disk answers again";
}

TEST_F(ObjectCopy, FailsWithoutMemoryForIt) {
  const objects_out objects(1, 5000);
  testing_help::refuses_pages = true;
  const auto copy = object_copy::read(objects[0]);
  testing_help::refuses_pages = false;
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error(), ENOMEM);
}

TEST_F(ObjectCopy, FailsWhereTheFileEndsBeforeTheObjectDoes) {
  const std::string& path = testing_help::cold_in_a_file();
  for (const std::size_t bytes : {9000UL, 3'000'000UL}) {
    const objects_out objects(1, bytes);
    const base::page_span where = heaps().cold().place_of(objects[0]);
    const auto read_with_file_of = [&](std::size_t file_bytes) {
      EXPECT_TRUE(testing_help::truncate_cold(path, file_bytes));
      auto copy = object_copy::read(objects[0]);
      EXPECT_TRUE(testing_help::truncate_cold(path, testing_help::kColdRangeBytes));
      return copy;
    };
    EXPECT_TRUE(read_with_file_of(where.offset + where.bytes));
    for (const std::size_t end :
         {where.offset + where.bytes - base::kPageBytes, where.offset + 1, where.offset}) {
      const auto copy = read_with_file_of(end);
      ASSERT_FALSE(copy) << end - where.offset;
      EXPECT_EQ(copy.error(), EIO);
    }
  }
}

// The disk failed to keep the pages, and gives zeros.
TEST_F(ObjectCopy, FailsWhereTheFileDoesNotHoldTheObject) {
  const objects_out objects(1, 5000);
  const std::string& path = testing_help::cold_in_a_file();
  ASSERT_TRUE(testing_help::truncate_cold(path, 0));
  ASSERT_TRUE(testing_help::truncate_cold(path, testing_help::kColdRangeBytes));
  const auto copy = object_copy::read(objects[0]);
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error(), EIO);
}

}  // namespace
}  // namespace isotherm::heap
