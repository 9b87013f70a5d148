// How a mapped COLD leaves DRAM. The kernel is imitated: there is no swap where this runs, or need
// not be, so that a page that is asked to leave is discarded.
#include "heap/packed/pager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "heap/local.hpp"
#include "os/memory/address_space.hpp"

// These stand before the C library's.
static std::vector<std::uintptr_t> paged_out;
static bool kernel_keeps_pages = false;
static std::size_t bytes_walked = 0;
extern "C" int madvise(void* begin, std::size_t bytes, int advice) noexcept {
  if (advice == MADV_PAGEOUT) {
    paged_out.push_back(reinterpret_cast<std::uintptr_t>(begin));
    if (kernel_keeps_pages) return 0;
    advice = MADV_DONTNEED;
  }
  return static_cast<int>(syscall(SYS_madvise, begin, bytes, advice));
}
extern "C" int mincore(void* begin, std::size_t bytes, unsigned char* pages) noexcept {
  bytes_walked += bytes;
  return static_cast<int>(syscall(SYS_mincore, begin, bytes, pages));
}

namespace isotherm::heap {
namespace {

constexpr std::size_t kObjectBytes = 2000;
constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

class memory_with_swap final : public backing {
 public:
  bool is_logged() const noexcept override { return false; }
  std::string place() const override { return "memory"; }
  void give_back(std::size_t offset, std::size_t bytes) const noexcept override {
    static_cast<void>(os::advise(begin() + offset, bytes, os::advice::discard));
  }
};

class Pager : public testing::Test {
 protected:
  static constexpr std::size_t kRangeBytes = std::size_t{1} << 29;

  void SetUp() override {
    const auto range = os::reserve(kRangeBytes, kExtentBytes);
    ASSERT_TRUE(range);
    begin_ = *range;
    heap_ = std::make_unique<packed_heap>();
    ASSERT_TRUE(heap_->open(begin_, kRangeBytes, std::make_unique<memory_with_swap>(),
                            packed_heap::freed_room::left));
    pager_ = std::make_unique<pager>(*heap_);
    fill(32);
    paged_out.clear();
  }
  void TearDown() override {
    kernel_keeps_pages = false;
    EXPECT_TRUE(heap_->is_valid());
    os::release(begin_, kRangeBytes);
  }

  void* allocate(std::size_t bytes) {
    void* const made = heap_->allocate(bytes, recycling::none, kColdestBand, local());
    EXPECT_NE(made, nullptr);
    std::memset(made, 7, bytes);
    return made;
  }
  void fill(std::size_t extents) {
    for (std::size_t i = 0; i < extents * kExtentBytes / kObjectBytes; ++i) {
      objects_.push_back(allocate(kObjectBytes));
    }
  }
  page_out_report page_out(
      hint how = hint::pageout, std::uint64_t limit_bytes = kNoLimit,
      const std::function<bool()>& stop = [] { return false; }) {
    return pager_->page_out(how, limit_bytes, stop);
  }
  void* middle() const { return objects_[objects_.size() / 2]; }
  /// Uses an object and does not tell of it.
  static void touch(void* object) { *static_cast<volatile char*>(object) = 1; }
  bool is_out(const void* object) const { return heap_->cold().is_out(object); }

  std::byte* begin_ = nullptr;
  std::unique_ptr<packed_heap> heap_;
  std::unique_ptr<pager> pager_;
  std::vector<void*> objects_;
};

TEST_F(Pager, ClosedExtentsLeaveAndOpenOnesStay) {
  const page_out_report report = page_out();
  EXPECT_EQ(report.problem, "");
  EXPECT_GE(report.bytes_asked, 30 * kExtentBytes);
  EXPECT_TRUE(is_out(objects_.front()));
  EXPECT_FALSE(is_out(objects_.back()));
}

TEST_F(Pager, TellsThatPagesStayOnlyWhenMuchWasAskedForInARow) {
  kernel_keeps_pages = true;
  std::uint64_t asked = 0;
  std::string problem;
  while (problem.empty() && asked < 128 * kExtentBytes) {
    const page_out_report report = page_out(hint::pageout, 8 * kExtentBytes);
    ASSERT_GT(report.bytes_asked, 0U);
    asked += report.bytes_asked;
    problem = report.problem;
  }
  EXPECT_NE(problem, "");
  EXPECT_GE(asked, 64 * kExtentBytes);
  EXPECT_LE(asked, 72 * kExtentBytes);
  kernel_keeps_pages = false;
  EXPECT_EQ(page_out().problem, "") << "it is over";
  kernel_keeps_pages = true;
  touch(middle());
  heap_->cold().note_use(middle());
  EXPECT_EQ(page_out().problem, "") << "one page, for a moment";
}

TEST_F(Pager, AnExtentIsAskedForAgainOnlyWhenPagesCameBack) {
  page_out();
  EXPECT_EQ(page_out().bytes_asked, 0U);
  touch(middle());
  heap_->cold().note_use(middle());
  EXPECT_FALSE(is_out(middle()));
  const std::uint64_t again = page_out().bytes_asked;
  EXPECT_GT(again, 0U);
  EXPECT_LE(again, 4 * base::kPageBytes);
}

TEST_F(Pager, TheLimitHoldsAndTheNextCallGoesOn) {
  std::uint64_t sum = 0;
  for (int call = 0; call < 4; ++call) {
    const std::uint64_t asked = page_out(hint::pageout, 8 * kExtentBytes).bytes_asked;
    EXPECT_LE(asked, 8 * kExtentBytes);
    sum += asked;
  }
  EXPECT_GE(sum, 28 * kExtentBytes);
}

TEST_F(Pager, StopsWhenItIsToldAndTheNextCallBeginsThere) {
  int asked = 0;
  const page_out_report report = page_out(hint::pageout, kNoLimit, [&] { return ++asked > 3; });
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(report.problem, "");
  ASSERT_EQ(paged_out.size(), 3u);
  const std::uintptr_t last = paged_out.back();
  asked = 0;
  page_out(hint::pageout, kNoLimit, [&] { return ++asked > 1; });
  EXPECT_EQ(paged_out.back(), last + kExtentBytes);
}

TEST_F(Pager, TheColdHintIsGivenOnceAndAgainAfterAUse) {
  EXPECT_GT(page_out(hint::cold).bytes_asked, 0U);
  EXPECT_EQ(page_out(hint::cold).bytes_asked, 0U);
  heap_->cold().note_use(middle());
  const std::uint64_t after_use = page_out(hint::cold).bytes_asked;
  EXPECT_GT(after_use, 0U);
  EXPECT_LE(after_use, kExtentBytes) << "where the object lies alone";
  EXPECT_TRUE(paged_out.empty());
}

TEST_F(Pager, AUseThatNobodyReportedIsFoundInTurn) {
  fill(128);  // more than one call looks at again
  page_out();
  touch(objects_[objects_.size() * 9 / 10]);
  std::uint64_t sum = 0;
  for (int call = 0; call < 16; ++call) sum += page_out().bytes_asked;
  EXPECT_GT(sum, 0U);
}

TEST_F(Pager, WhatIsOutAndUntouchedIsNotWalkedAgain) {
  fill(128);
  page_out();
  bytes_walked = 0;
  page_out();
  EXPECT_LE(bytes_walked, 20 * kExtentBytes) << "of 160";
}

TEST_F(Pager, WhatTheSystemHasTakenByItselfIsFoundOut) {
  const std::size_t index = heap_->extents().index_of(middle());
  std::byte* const extent = heap_->extents().address_of(index);
  ASSERT_EQ(::madvise(extent, kExtentBytes, MADV_DONTNEED), 0);
  EXPECT_FALSE(is_out(middle())) << "nobody has told";
  page_out();
  EXPECT_TRUE(is_out(middle()));
  EXPECT_THAT(paged_out, testing::Not(testing::Contains(reinterpret_cast<std::uintptr_t>(extent))));
}

TEST_F(Pager, APageThatTheSystemHasTakenIsFoundOutAlone) {
  const base::page_span where = heap_->cold().place_of(middle());
  ASSERT_EQ(::madvise(begin_ + where.offset, where.bytes, MADV_DONTNEED), 0);
  page_out(hint::pageout, kNoLimit, [] { return true; });  // looks, and leaves all where it is
  EXPECT_TRUE(is_out(middle()));
  EXPECT_FALSE(is_out(objects_[objects_.size() / 2 - 8]));
  EXPECT_FALSE(is_out(objects_[objects_.size() / 2 + 8]));
}

TEST_F(Pager, ALargeObjectLeavesAsAWholeOrNotAtAll) {
  void* const large = allocate(3 * kExtentBytes);
  for (int call = 0; call < 20; ++call) page_out(hint::pageout, 2 * kExtentBytes);
  EXPECT_FALSE(is_out(large));
  page_out();
  EXPECT_TRUE(is_out(large));
}

}  // namespace
}  // namespace isotherm::heap
