// Pages of COLD that come back together, before they are used. COLD is a file here.
#include "heap/cold/read_ahead.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/page.hpp"
#include "heap/cold/objects_out.hpp"
#include "heap/header.hpp"
#include "heap/readable.hpp"

namespace isotherm::heap {
namespace {

/// Which pages this process can use without a fault, of any kind: bit 63 of /proc/self/pagemap.
class mapped_pages {
 public:
  mapped_pages() : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~mapped_pages() { ::close(file_); }
  mapped_pages(const mapped_pages&) = delete;
  mapped_pages& operator=(const mapped_pages&) = delete;

  bool have_begin_of(const void* object) const {
    return is_mapped(reinterpret_cast<std::uintptr_t>(object) / base::kPageBytes);
  }
  /// Of a live object with its header.
  std::size_t missing_of(const void* object) const {
    std::size_t missing = 0;
    base::for_each_page(
        reinterpret_cast<std::uintptr_t>(header_of(object)), kHeaderBytes + room_of(object),
        [&](std::uintptr_t page, std::size_t) { missing += is_mapped(page) ? 0U : 1U; });
    return missing;
  }

 private:
  bool is_mapped(std::uintptr_t page) const {
    std::uint64_t entry = 0;
    const auto at = static_cast<off_t>(page * sizeof entry);
    EXPECT_EQ(::pread(file_, &entry, sizeof entry, at), static_cast<ssize_t>(sizeof entry));
    return (entry >> 63U) != 0;
  }
  int file_;
};

class ReadAhead : public testing::Test {
 protected:
  static void SetUpTestSuite() { testing_help::cold_in_a_file(); }
  read_ahead pages_;
  mapped_pages mapped_;
};

TEST_F(ReadAhead, MapsWhatWasAdded) {
  for (const std::size_t bytes : {30UL, 1000UL, 2500UL, 10'000UL, 3'000'000UL}) {
    const testing_help::objects_out objects(std::clamp<std::size_t>(6'000'000 / bytes, 3, 5000),
                                            bytes);
    for (std::size_t i = objects.size(); i-- > 0;) pages_.add(objects[i]);
    pages_.run();
    std::size_t missing = 0;
    for (std::size_t i = 0; i < objects.size(); ++i) missing += mapped_.missing_of(objects[i]);
    // The system takes a page away for a moment when it moves it.
    EXPECT_LE(missing, objects.size() * (1 + bytes / base::kPageBytes) / 100) << bytes;
    for (std::size_t i = 0; i < objects.size(); ++i) ASSERT_TRUE(objects.is_copy(objects[i], i));
  }
}

TEST_F(ReadAhead, LeavesOtherPagesOut) {
  const testing_help::objects_out objects(1000, 5000);
  // An object has two pages, and shares at most one with each neighbour. What stays of the others
  // is what the disk was busy with.
  std::size_t missing_before = 0, missing = 0;
  for (std::size_t i = 0; i < objects.size(); i += 4) {
    pages_.add(objects[i]);
    missing_before += mapped_.missing_of(objects[i + 2]);
  }
  pages_.run();
  for (std::size_t i = 0; i < objects.size(); i += 4) missing += mapped_.missing_of(objects[i + 2]);
  EXPECT_GT(missing, objects.size() / 4);
  EXPECT_GE(missing, missing_before);
}

TEST_F(ReadAhead, LeavesNothingInAnExtentThatHasGoneMeanwhile) {
  const void* gone = nullptr;
  {
    const testing_help::objects_out objects(200, 5000);
    gone = objects[0];
    pages_.add(gone);
  }
  pages_.run();
  EXPECT_FALSE(mapped_.have_begin_of(gone));
}

TEST_F(ReadAhead, WhatItHasReadIsInDramForAllAndLeavesAgain) {
  const testing_help::objects_out objects(200, 5000);
  pages_.add(objects[0]);
  pages_.run();
  EXPECT_FALSE(is_out(objects[0]));
  EXPECT_TRUE(is_out(objects[100]));
  testing_help::page_out_all();
  EXPECT_TRUE(is_out(objects[0]));
}

TEST_F(ReadAhead, ForgetsWhatItHasRead) {
  const void* gone = nullptr;
  {
    const testing_help::objects_out objects(200, 5000);
    gone = objects[0];
    pages_.add(gone);
    pages_.run();
    ASSERT_TRUE(mapped_.have_begin_of(gone));
  }
  ASSERT_FALSE(mapped_.have_begin_of(gone)) << "its extent was given back";
  pages_.run();
  EXPECT_FALSE(mapped_.have_begin_of(gone));
}

TEST_F(ReadAhead, LeavesWhatTheDiskDoesNotGiveToWhoUsesIt) {
  const testing_help::objects_out objects(200, 5000);
  const std::string& path = testing_help::cold_in_a_file();
  ASSERT_TRUE(testing_help::truncate_cold(
      path, testing_help::cold_offset_of(objects[100]) / base::kPageBytes * base::kPageBytes));
  for (std::size_t i = 0; i < objects.size(); ++i) pages_.add(objects[i]);
  pages_.run();
  std::size_t missing = 0;
  for (std::size_t i = 0; i < 99; ++i) missing += mapped_.missing_of(objects[i]);
  EXPECT_LE(missing, 2u);
  EXPECT_TRUE(is_out(objects[150]));
  EXPECT_FALSE(is_readable(objects[150]));
  ASSERT_TRUE(testing_help::truncate_cold(path, testing_help::kColdRangeBytes));
}

}  // namespace
}  // namespace isotherm::heap
