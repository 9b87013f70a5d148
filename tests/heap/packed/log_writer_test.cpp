// A logged COLD that is written to its file: which extents are, what a disk that fails leaves where
// it is, and when memory ends. A program of its own, since heaps are configured once.
#include "heap/packed/log_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/in_a_child.hpp"
#include "base/random.hpp"
#include "heap/cold/cold_file.hpp"
#include "heap/cold/object_copy.hpp"
#include "heap/usage.hpp"
#include "os/faults.hpp"
#include "os/memory/residency.hpp"
#include "sync/retire.hpp"
#include "sync/scope.hpp"

// Around fork() jemalloc holds more locks than ThreadSanitizer's lock-order detector bears: see
// file_test.cpp.
extern "C" const char* __tsan_default_options() { return "detect_deadlocks=0"; }

namespace isotherm::heap {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
/// An object and its header fill a page: the last of a full extent ends 8 bytes behind a page.
constexpr std::size_t kObjectBytes = base::kPageBytes - kHeaderBytes;

packed_heap& cold_heap() { return heaps().packed(kind::cold); }
std::size_t extent_of(const void* object) { return cold_heap().extents().index_of(object); }
std::uint64_t held_bytes() { return usage_of(kind::cold, residency::left_out).extent_bytes; }
std::uint64_t written_bytes() { return heaps().cold_writer.written_bytes(); }

/// Objects of COLD, each of one repeated byte, by the number of their extent.
class filled_extents {
 public:
  /// Fills so many extents, which are closed then.
  explicit filled_extents(std::size_t count) {
    while (by_extent_.size() <= count) add(kObjectBytes);
    const auto open = std::ranges::find_if(
        by_extent_, [](const auto& each) { return !is_closed(each.second.front()); });
    EXPECT_NE(open, by_extent_.end());
    if (open == by_extent_.end()) return;
    for (void* each : open->second) deallocate(each);
    by_extent_.erase(open);
  }
  ~filled_extents() { free_all(); }
  filled_extents(const filled_extents&) = delete;
  filled_extents& operator=(const filled_extents&) = delete;

  std::size_t size() const { return by_extent_.size(); }
  /// Returns the number of the i-th extent, the lowest first.
  std::size_t number(std::size_t i) const { return std::next(by_extent_.begin(), at(i))->first; }
  std::vector<std::size_t> numbers() const {
    std::vector<std::size_t> all;
    all.reserve(by_extent_.size());
    for (const auto& [number, objects] : by_extent_) all.push_back(number);
    return all;
  }
  const std::vector<void*>& objects(std::size_t i) const {
    return std::next(by_extent_.begin(), at(i))->second;
  }
  bool is_out(std::size_t i) const { return heap::is_out(objects(i).front()); }
  std::size_t count_out() const {
    std::size_t out = 0;
    for (std::size_t i = 0; i < size(); ++i) out += is_out(i) ? 1 : 0;
    return out;
  }
  /// Returns whether all objects are what was put there, in memory or in the file.
  bool are_intact() const {
    for (const auto& [number, objects] : by_extent_) {
      for (void* each : objects) {
        if (!is_intact(each)) return false;
      }
    }
    return true;
  }
  static bool is_intact(const void* object) {
    if (!heap::is_out(object)) return has_its_bytes(object, object);
    const auto copy = object_copy::read(object);
    return copy && has_its_bytes(copy->object(), object);
  }
  static bool has_its_bytes(const void* at, const void* object) {
    const auto* const bytes = static_cast<const unsigned char*>(at);
    return object_size(at) == kObjectBytes &&
           std::count(bytes, bytes + kObjectBytes, byte_of(object)) == kObjectBytes;
  }
  void free_all(std::size_t i) {
    for (void* each : objects(i)) deallocate(each);
    by_extent_.erase(number(i));
  }
  void free_all() {
    for (const auto& [number, objects] : by_extent_) {
      for (void* each : objects) deallocate(each);
    }
    by_extent_.clear();
  }

 private:
  static std::ptrdiff_t at(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }
  static unsigned char byte_of(const void* object) {
    return static_cast<unsigned char>(reinterpret_cast<std::uintptr_t>(object) / 16 * 37);
  }
  void add(std::size_t bytes) {
    void* const object = allocate(kind::cold, bytes);
    ASSERT_NE(object, nullptr);
    std::memset(object, byte_of(object), bytes);
    by_extent_[extent_of(object)].push_back(object);
  }

  std::map<std::size_t, std::vector<void*>> by_extent_;
};

std::uint64_t resident_bytes(std::size_t extent, std::size_t count = 1) {
  const auto found =
      os::resident_bytes(cold_heap().extents().address_of(extent), count * kExtentBytes);
  EXPECT_TRUE(found);
  return found.value_or(0);
}

class LogWriter : public testing::Test {
 protected:
  static void SetUpTestSuite() { testing_help::cold_in_a_file(); }
  void SetUp() override {
    testing_help::close_cold_extents();
    testing_help::page_out_all();
  }
  void TearDown() override {
    os::set_fault_hook({});
    sync::reclaim_ready();
    EXPECT_TRUE(is_valid());
  }
  /// From now on the disk refuses the first so many writes.
  static void refuse_writes(int count) {
    left_to_refuse = count;
    os::set_fault_hook([](os::io_call call) {
      return call == os::io_call::write && left_to_refuse-- > 0 ? EIO : 0;
    });
  }
  static inline std::atomic<int> left_to_refuse{0};
};

TEST_F(LogWriter, WritesWhatIsClosedAndItsMemoryEnds) {
  const filled_extents filled(8);
  const std::uint64_t resident = resident_bytes(filled.number(3));
  EXPECT_GE(resident, kExtentBytes - 2 * base::kPageBytes);
  const page_out_report report = page_out_cold(hint::pageout, kNoLimit);
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.bytes_asked, 8 * kExtentBytes);
  EXPECT_EQ(filled.count_out(), 8u);
  sync::reclaim_ready();
  for (std::size_t i = 0; i < filled.size(); ++i) EXPECT_EQ(resident_bytes(filled.number(i)), 0u);
  EXPECT_TRUE(filled.are_intact());
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).bytes_asked, 0u) << "each is written once";
}

TEST_F(LogWriter, TheWeakHintIsAHintAndNoneIsNot) {
  const filled_extents filled(2);
  EXPECT_EQ(page_out_cold(hint::none, kNoLimit).bytes_asked, 0u);
  EXPECT_EQ(filled.count_out(), 0u);
  EXPECT_EQ(page_out_cold(hint::cold, kNoLimit).bytes_asked, 2 * kExtentBytes);
  EXPECT_EQ(filled.count_out(), 2u);
}

TEST_F(LogWriter, LeavesOpenExtentsInMemory) {
  testing_help::close_cold_extents();
  void* const object = allocate(kind::cold, kObjectBytes);
  std::memset(object, 5, kObjectBytes);
  ASSERT_FALSE(is_closed(object));
  const std::uint64_t written = written_bytes();
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).bytes_asked, 0u);
  sync::reclaim_ready();
  EXPECT_FALSE(is_out(object));
  EXPECT_EQ(written_bytes(), written);
  EXPECT_EQ(static_cast<char*>(object)[kObjectBytes - 1], 5);
  deallocate(object);
}

TEST_F(LogWriter, WritesTheUsedPagesAlone) {
  const std::uint64_t before = written_bytes();
  const filled_extents filled(2);
  constexpr std::size_t kBytes = 2 * kExtentBytes + 100'000;
  void* const large = allocate(kind::cold, kBytes);
  std::memset(large, 1, kBytes);
  testing_help::page_out_all();
  const std::uint64_t in_pages =
      (kBytes + 2 * kHeaderBytes + base::kPageBytes - 1) / base::kPageBytes * base::kPageBytes;
  const std::uint64_t written = written_bytes() - before;
  EXPECT_LE(written, 2 * kExtentBytes + in_pages);
  EXPECT_GE(written, 2 * (kExtentBytes - 2 * base::kPageBytes) + in_pages);
  deallocate(large);
}

TEST_F(LogWriter, WritesRunsToTheirLastByte) {
  for (const std::size_t bytes :
       {kSmallBytesMax + 1, 2 * kExtentBytes - 8, 3 * kExtentBytes - 2 * kHeaderBytes,
        3 * kExtentBytes, std::size_t{5'000'000}}) {
    auto* const large = static_cast<unsigned char*>(allocate(kind::cold, bytes));
    for (std::size_t i = 0; i < bytes; ++i) large[i] = static_cast<unsigned char>(i % 251);
    const std::uint64_t memory = heaps().cold().memory_bytes();
    const std::size_t count = extents_of(bytes), first = extent_of(large);
    EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).bytes_asked, count * kExtentBytes);
    EXPECT_EQ(heaps().cold().memory_bytes(), memory - count * kExtentBytes);
    ASSERT_TRUE(is_out(large));
    sync::reclaim_ready();
    EXPECT_EQ(resident_bytes(first, count), 0u);
    const auto copy = object_copy::read(large);
    ASSERT_TRUE(copy);
    const auto* const at = static_cast<const unsigned char*>(copy->object());
    EXPECT_EQ(object_size(at), bytes);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes; ++i) wrong += at[i] != i % 251 ? 1 : 0;
    EXPECT_EQ(wrong, 0u) << bytes;
    const std::uint64_t held = held_bytes();
    deallocate(large);
    EXPECT_EQ(held_bytes(), held - count * kExtentBytes);
  }
}

TEST_F(LogWriter, WritesNoMoreThanItsLimitAndTheLowestFirst) {
  const filled_extents filled(6);
  EXPECT_EQ(page_out_cold(hint::pageout, kExtentBytes - 1).bytes_asked, 0u);
  EXPECT_EQ(filled.count_out(), 0u);
  EXPECT_EQ(page_out_cold(hint::pageout, 2 * kExtentBytes + 5).bytes_asked, 2 * kExtentBytes);
  EXPECT_TRUE(filled.is_out(0) && filled.is_out(1));
  EXPECT_EQ(filled.count_out(), 2u);
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).bytes_asked, 4 * kExtentBytes);
}

TEST_F(LogWriter, AnObjectBeyondTheLimitStaysAndTheOthersLeave) {
  void* const large = allocate(kind::cold, 3 * kExtentBytes);
  const filled_extents filled(3);
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(page_out_cold(hint::pageout, kExtentBytes).bytes_asked, kExtentBytes);
  }
  EXPECT_EQ(filled.count_out(), 3u);
  EXPECT_FALSE(is_out(large));
  EXPECT_EQ(page_out_cold(hint::pageout, 3 * kExtentBytes).bytes_asked, 0u);
  EXPECT_EQ(page_out_cold(hint::pageout, 4 * kExtentBytes).bytes_asked, 4 * kExtentBytes);
  EXPECT_TRUE(is_out(large));
  const std::uint64_t held = held_bytes();
  deallocate(large);
  sync::reclaim_ready();
  EXPECT_EQ(held_bytes(), held - 4 * kExtentBytes) << "no call has left it pinned";
}

// Else smaller ones would take its place in each call.
TEST_F(LogWriter, WhatDoesNotFitAnyMoreIsTheNextCallsFirst) {
  const filled_extents lower(2);
  void* const large = allocate(kind::cold, 3 * kExtentBytes);
  const filled_extents higher(3);
  const page_out_report report = page_out_cold(hint::pageout, 5 * kExtentBytes);
  EXPECT_LT(report.bytes_asked, 5 * kExtentBytes);
  EXPECT_FALSE(is_out(large));
  EXPECT_FALSE(higher.is_out(2));
  EXPECT_EQ(page_out_cold(hint::pageout, 4 * kExtentBytes).bytes_asked, 4 * kExtentBytes);
  EXPECT_TRUE(is_out(large));
  deallocate(large);
}

// More than are under way at a time: those that end while the call waits are in its list, too.
TEST_F(LogWriter, EachIsWrittenOnce) {
  const std::uint64_t before = written_bytes();
  const filled_extents filled(30);
  const page_out_report report = page_out_cold(hint::pageout, kNoLimit);
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.bytes_asked, 30 * kExtentBytes);
  EXPECT_LE(written_bytes() - before, 30 * kExtentBytes);
}

TEST_F(LogWriter, StopsWhenItIsToldAndTheNextCallGoesOnFromThere) {
  const filled_extents filled(6);
  int asked = 0;  // for each that is in memory, one that still takes objects among them
  const page_out_report report =
      page_out_cold(hint::pageout, kNoLimit, [&asked] { return ++asked > 4; });
  EXPECT_EQ(report.problem, "");
  const std::size_t out = filled.count_out();
  EXPECT_GE(out, 2u);
  EXPECT_LE(out, 4u);
  EXPECT_EQ(report.bytes_asked, out * kExtentBytes);
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit, [] { return true; }).bytes_asked, 0u);
  EXPECT_EQ(page_out_cold(hint::pageout, kExtentBytes).bytes_asked, kExtentBytes);
  EXPECT_TRUE(filled.is_out(out));
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).bytes_asked, (5 - out) * kExtentBytes);
}

TEST_F(LogWriter, AWriteThatFailsIsToldLosesNothingAndIsTriedAgain) {
  const filled_extents filled(6);
  const std::uint64_t memory = heaps().cold().memory_bytes(), written = written_bytes();
  refuse_writes(1);
  const page_out_report report = page_out_cold(hint::pageout, kNoLimit);
  os::set_fault_hook({});
  sync::reclaim_ready();
  EXPECT_THAT(report.problem, HasSubstr("cannot write the cold file"));
  EXPECT_THAT(report.problem, HasSubstr(std::strerror(EIO)));
  EXPECT_EQ(report.bytes_asked, 5 * kExtentBytes) << "the others are written";
  EXPECT_EQ(filled.count_out(), 5u);
  EXPECT_EQ(heaps().cold().memory_bytes(), memory - 5 * kExtentBytes);
  EXPECT_LE(written_bytes(), written + 5 * kExtentBytes);
  EXPECT_TRUE(filled.are_intact());
  const page_out_report again = page_out_cold(hint::pageout, kNoLimit);
  EXPECT_EQ(again.problem, "");
  EXPECT_EQ(again.bytes_asked, kExtentBytes);
  EXPECT_EQ(filled.count_out(), 6u);
  sync::reclaim_ready();
  EXPECT_TRUE(filled.are_intact());
}

// A disk that fails may take long over each failure.
TEST_F(LogWriter, ADiskThatTakesNothingIsNotAskedForAll) {
  const filled_extents filled(32);
  constexpr int kMany = 1'000'000;
  refuse_writes(kMany);
  const page_out_report report = page_out_cold(hint::pageout, kNoLimit);
  const int asked = kMany - left_to_refuse;
  os::set_fault_hook({});
  EXPECT_NE(report.problem, "");
  EXPECT_EQ(report.bytes_asked, 0u);
  EXPECT_EQ(filled.count_out(), 0u);
  EXPECT_LT(asked, 32);
  EXPECT_TRUE(filled.are_intact());
}

TEST_F(LogWriter, OthersAreTriedFirstAfterFailures) {
  const filled_extents filled(32);
  refuse_writes(1'000'000);
  page_out_cold(hint::pageout, kNoLimit);
  os::set_fault_hook({});
  EXPECT_EQ(page_out_cold(hint::pageout, kExtentBytes).bytes_asked, kExtentBytes);
  EXPECT_FALSE(filled.is_out(0) || filled.is_out(1)) << "they were tried before";
  EXPECT_EQ(filled.count_out(), 1u);
  while (page_out_cold(hint::pageout, kExtentBytes).bytes_asked > 0) {
  }
  EXPECT_EQ(filled.count_out(), 32u) << "their turn came";
}

TEST_F(LogWriter, AnExtentThatWasNotWrittenIsGivenBackWhenItIsEmptied) {
  filled_extents filled(4);
  refuse_writes(1'000'000);
  page_out_cold(hint::pageout, kNoLimit);
  os::set_fault_hook({});
  const std::uint64_t held = held_bytes(), memory = heaps().cold().memory_bytes();
  filled.free_all();
  EXPECT_EQ(held_bytes(), held - 4 * kExtentBytes);
  EXPECT_EQ(heaps().cold().memory_bytes(), memory - 4 * kExtentBytes);
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).problem, "") << "nothing is left to be written";
}

// Empties an extent amid its write, which ends well or not.
TEST_F(LogWriter, AnExtentThatIsEmptiedWhileItIsWrittenIsGivenBackAfterwards) {
  for (const int code : {0, EIO}) {
    filled_extents filled(1);
    const std::size_t number = filled.number(0);
    const std::uint64_t held = held_bytes(), memory = heaps().cold().memory_bytes();
    std::uint64_t held_meanwhile = 0;
    os::set_fault_hook([&](os::io_call call) {
      if (call != os::io_call::write || filled.size() == 0) return 0;
      filled.free_all();
      held_meanwhile = held_bytes();
      return code;
    });
    page_out_cold(hint::pageout, kNoLimit);
    os::set_fault_hook({});
    EXPECT_EQ(held_meanwhile, held);
    sync::reclaim_ready();
    EXPECT_EQ(held_bytes(), held - kExtentBytes);
    EXPECT_EQ(heaps().cold().memory_bytes(), memory - kExtentBytes);
    EXPECT_FALSE(cold_heap().extents().is_taken(number));
    EXPECT_EQ(resident_bytes(number), 0u);
    EXPECT_TRUE(is_valid());
  }
}

TEST_F(LogWriter, MemoryEndsWhenTheScopesThatWereOpenHaveClosed) {
  const filled_extents filled(3);
  const void* const object = filled.objects(1).back();
  {
    const sync::scope open;
    ASSERT_FALSE(is_out(object));
    std::thread([] {
      page_out_cold(hint::pageout, kNoLimit);
      const sync::scope later;  // concerns nobody
    }).join();
    EXPECT_EQ(filled.count_out(), 3u);
    std::thread([] { sync::reclaim_ready(); }).join();
    EXPECT_GE(sync::retired_bytes(), 3 * kExtentBytes);
    EXPECT_GT(resident_bytes(filled.number(1)), 0u);
    EXPECT_TRUE(filled_extents::has_its_bytes(object, object)) << "where it was found";
  }
  sync::reclaim_ready();
  EXPECT_EQ(resident_bytes(filled.number(1)), 0u);
  EXPECT_TRUE(filled.are_intact());
}

TEST_F(LogWriter, TheAddressesOfAnEmptiedExtentMeanNothingElseUntilItsMemoryHasEnded) {
  filled_extents filled(3);
  const std::vector<std::size_t> numbers = filled.numbers();
  void* const large = allocate(kind::cold, 2 * kExtentBytes);
  const std::size_t run = extent_of(large);
  const std::uint64_t held = held_bytes();
  {
    const sync::scope open;
    std::thread([] { page_out_cold(hint::pageout, kNoLimit); }).join();
    ASSERT_EQ(filled.count_out(), 3u);
    ASSERT_TRUE(is_out(large));
    filled.free_all();
    deallocate(large);
    EXPECT_EQ(held_bytes(), held);
    for (const std::size_t each : numbers) EXPECT_TRUE(cold_heap().extents().is_taken(each));
    const filled_extents others(4);
    for (std::size_t i = 0; i < others.size(); ++i) {
      EXPECT_THAT(numbers, testing::Not(testing::Contains(others.number(i))));
      EXPECT_TRUE(others.number(i) < run || others.number(i) >= run + 3);
    }
  }
  sync::reclaim_ready();
  EXPECT_EQ(held_bytes(), held - 6 * kExtentBytes);
  for (const std::size_t each : numbers) EXPECT_FALSE(cold_heap().extents().is_taken(each));
  const filled_extents again(8);
  for (const std::size_t each : numbers) EXPECT_THAT(again.numbers(), testing::Contains(each));
  EXPECT_EQ(again.count_out(), 0u) << "what was written of them is forgotten";
  EXPECT_TRUE(again.are_intact());
}

TEST_F(LogWriter, CountsTheMemoryOfExtentsUntilTheyAreWritten) {
  const auto counted = [] { return heaps().cold().memory_bytes(); };
  const auto of_open = [] { return heaps().cold().in_memory().size() * kExtentBytes; };
  ASSERT_EQ(counted(), of_open()) << "there are no runs";
  const std::uint64_t before = counted();
  filled_extents filled(5);
  EXPECT_GE(counted(), before + 5 * kExtentBytes - kExtentBytes);
  EXPECT_EQ(counted(), of_open());
  page_out_cold(hint::pageout, 2 * kExtentBytes);
  EXPECT_EQ(counted(), of_open());
  filled.free_all();  // some were written, and some were not
  EXPECT_EQ(counted(), of_open());
  testing_help::close_cold_extents();
  testing_help::page_out_all();
  EXPECT_LE(counted(), before) << "open extents are left";
}

TEST_F(LogWriter, AForkChildWritesNothingReadsNothingAndEndsNoMemory) {
  filled_extents written(2), waiting(2);
  {
    const sync::scope open;
    std::thread([] { page_out_cold(hint::pageout, 2 * kExtentBytes); }).join();
    ASSERT_EQ(written.count_out() + waiting.count_out(), 2u);
    const filled_extents& out = written.count_out() == 2 ? written : waiting;
    ASSERT_EQ(out.count_out(), 2u);
    EXPECT_TRUE(testing_help::succeeds_in_a_child([&] {
      const page_out_report report = page_out_cold(hint::pageout, kNoLimit);
      if (report.problem.find("only the parent") == std::string::npos) return 1;
      if (report.bytes_asked != 0 || written.count_out() + waiting.count_out() != 2) return 2;
      const auto copy = object_copy::read(out.objects(0).front());
      if (copy || copy.error() != EPERM) return 3;
      written.free_all();
      waiting.free_all();
      return 0;
    }));
  }
  sync::reclaim_ready();
  EXPECT_TRUE(written.are_intact()) << "the child has punched no hole";
  EXPECT_TRUE(waiting.are_intact());
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).bytes_asked, 2 * kExtentBytes);
  EXPECT_TRUE(written.are_intact() && waiting.are_intact());
}

// Threads use objects in scopes, in memory or by copies, while all is written, now and then in
// vain.
TEST_F(LogWriter, StressObjectsAreReadWholeWhileTheyAreWritten) {
  const std::uint64_t seed = testing::UnitTest::GetInstance()->random_seed() + 1u;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::atomic<unsigned> refusals{0};
  os::set_fault_hook([&refusals](os::io_call call) {
    return call == os::io_call::write && refusals++ % 5 == 4 ? EIO : 0;
  });
  constexpr unsigned kThreads = 3, kRounds = 6;
  for (unsigned round = 0; round < kRounds; ++round) {
    filled_extents filled(6);
    std::atomic<unsigned> running{kThreads};
    std::atomic<std::uint64_t> torn{0};
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        base::random random(seed * 1000 + std::uint64_t{round} * kThreads + t);
        for (int i = 0; i < 1000; ++i) {
          const sync::scope open;
          const auto& objects = filled.objects(random.below(filled.size()));
          if (!filled_extents::is_intact(objects[random.below(objects.size())])) ++torn;
        }
        --running;
      });
    }
    while (running > 0) {
      page_out_cold(hint::pageout, kExtentBytes);
      sync::reclaim_ready();
    }
    threads.clear();
    EXPECT_EQ(torn, 0u);
  }
}

// An extent is emptied before, amid and after its write, and each of them is given back once.
TEST_F(LogWriter, StressExtentsAreEmptiedWhileTheyAreWritten) {
  const std::uint64_t seed = testing::UnitTest::GetInstance()->random_seed() + 1u;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  base::random random(seed);
  const std::uint64_t held = held_bytes(), memory = heaps().cold().memory_bytes();
  for (unsigned round = 0; round < 10; ++round) {
    std::vector<void*> objects(32);
    for (void*& each : objects) each = allocate(kind::cold, kSmallBytesMax + 1);
    std::vector<void*> order = objects;
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[random.below(i)], order[i - 1]);
    }
    std::jthread other([&order] {
      for (void* each : order) deallocate(each);
    });
    for (int call = 0; call < 8; ++call) {
      page_out_cold(hint::pageout, 8 * kExtentBytes);
      sync::reclaim_ready();
    }
    other.join();
    sync::reclaim_ready();
    ASSERT_EQ(held_bytes(), held);
    ASSERT_EQ(heaps().cold().memory_bytes(), memory);
    ASSERT_TRUE(is_valid());
  }
}

// One thread takes what another gives back at this moment.
TEST_F(LogWriter, StressWhatIsTakenAnewIsInMemoryAnew) {
  const std::uint64_t memory = heaps().cold().memory_bytes();
  base::atomic<void*> handed_over{nullptr};
  std::jthread other([&handed_over](const std::stop_token& is_over) {
    while (!is_over.stop_requested()) {
      if (void* const object = handed_over.exchange_acq_rel(nullptr)) deallocate(object);
    }
  });
  for (int i = 0; i < 1000; ++i) {
    void* const object = allocate(kind::cold, kSmallBytesMax + 1);
    ASSERT_NE(object, nullptr);
    if (void* const before = handed_over.exchange_acq_rel(object)) deallocate(before);
  }
  other.request_stop();
  other.join();
  if (void* const last = handed_over.exchange_acq_rel(nullptr)) deallocate(last);
  EXPECT_EQ(heaps().cold().memory_bytes(), memory);
  EXPECT_EQ(heaps().cold().in_memory().size() * kExtentBytes, memory);
}

}  // namespace
}  // namespace isotherm::heap
