// Every heap: addresses, sizes, headers, counters. Small ranges, so that one can be filled (the
// sanitizers' shadow memory grows with what was handed out).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <latch>
#include <thread>
#include <vector>

#include "heap/configure.hpp"
#include "heap/local.hpp"
#include "heap/node.hpp"
#include "heap/object.hpp"
#include "heap/poison.hpp"
#include "heap/ranges.hpp"
#include "heap/usage.hpp"

namespace isotherm::heap {
namespace {

constexpr std::array kAll{kind::newborn, kind::hot, kind::cold};

void fill(void* object, std::size_t bytes, int pattern) { std::memset(object, pattern, bytes); }

bool holds(const void* object, std::size_t bytes, int pattern) {
  const auto* at = static_cast<const unsigned char*>(object);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (at[i] != static_cast<unsigned char>(pattern)) return false;
  }
  return true;
}

class small_ranges : public testing::Environment {
  void SetUp() override {
    options chosen;
    chosen.range_bytes = std::size_t{1} << 30;
    const auto configured = configure(chosen);
    ASSERT_TRUE(configured) << configured.error().message;
  }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new small_ranges);

TEST(Ranges, AreSideBySideAndDisjoint) {
  const std::array ranges{range_of(kind::newborn), range_of(kind::hot), range_of(kind::cold),
                          range_of(kind::node)};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_LT(ranges[i].begin, ranges[i].end);
    EXPECT_LT(ranges[i].end, std::uintptr_t{1} << 48U);
    if (i > 0) {
      EXPECT_EQ(ranges[i - 1].end, ranges[i].begin);
    }
  }
}

class EachHeap : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(All, EachHeap, testing::ValuesIn(kAll));

TEST_P(EachHeap, KeepsSizesAndBytesOfNeighbours) {
  const std::array<std::size_t, 16> sizes{
      0, 1, 7, 8, 9, 15, 16, 17, 1028, 4096, 65536, 1000000, 1048552, 1048553, 1048561, 5000000};
  std::vector<void*> objects;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    void* object = allocate(GetParam(), sizes[i]);
    ASSERT_NE(object, nullptr);
    EXPECT_TRUE(range_of(GetParam()).contains(object));
    EXPECT_LE(reinterpret_cast<std::uintptr_t>(object) + sizes[i], used_end(GetParam()));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(object) % 16, 0U);
    fill(object, sizes[i], static_cast<int>(i + 1));
    objects.push_back(object);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(object_size(objects[i]), sizes[i]);
    EXPECT_TRUE(holds(objects[i], sizes[i], static_cast<int>(i + 1))) << sizes[i];
  }
  EXPECT_TRUE(is_valid());
  for (void* object : objects) deallocate(object);
  EXPECT_TRUE(is_valid());
}

TEST_P(EachHeap, ReadsWholeWordsOfAnEmptyObject) {
  void* object = allocate(GetParam(), 0);
  ASSERT_NE(object, nullptr);
  std::uint64_t word = 1;
  std::memcpy(object, &word, sizeof word);
  std::memcpy(&word, object, sizeof word);
  EXPECT_EQ(word, 1U);
  deallocate(object);
}

TEST_P(EachHeap, CountsObjectsAndBytes) {
  const usage before = usage_of(GetParam(), residency::left_out);
  std::vector<void*> objects;
  for (std::size_t i = 0; i < 1000; ++i) objects.push_back(allocate(GetParam(), 100 + i % 3));
  const usage during = usage_of(GetParam());
  EXPECT_EQ(during.objects - before.objects, 1000U);
  // COLD counts whole units of 16, less the header.
  const std::uint64_t bytes =
      GetParam() == kind::cold ? 1000 * 104 : 334 * 100 + 333 * 101 + 333 * 102;
  EXPECT_EQ(during.bytes - before.bytes, bytes);
  EXPECT_GE(during.extent_bytes, during.bytes);
  for (void* object : objects) std::memset(object, 1, 100);
  EXPECT_GE(usage_of(GetParam()).resident_bytes, 1000U * 100);
  for (void* object : objects) deallocate(object);
  const usage after = usage_of(GetParam(), residency::left_out);
  EXPECT_EQ(after.objects, before.objects);
  EXPECT_EQ(after.bytes, before.bytes);
}

TEST_P(EachHeap, RefusesWhatItsRangeCannotHold) {
  const std::uint64_t before = refused_allocations(GetParam());
  std::vector<void*> objects;
  // Address space only: nothing is touched but headers.
  const std::size_t bytes = (std::size_t{64} << 20) - 1;
  const range all = range_of(GetParam());
  for (std::size_t i = 0; i <= (all.end - all.begin) / bytes; ++i) {
    void* object = allocate(GetParam(), bytes);
    if (object == nullptr) break;
    objects.push_back(object);
  }
  EXPECT_EQ(refused_allocations(GetParam()), before + 1);
  for (void* object : objects) deallocate(object);
  void* small = allocate(GetParam(), 8);
  EXPECT_NE(small, nullptr);
  deallocate(small);
}

TEST(NodeHeap, AlignsAndCounts) {
  const usage before = usage_of(kind::node, residency::left_out);
  std::vector<void*> nodes;
  for (std::size_t alignment = 8; alignment <= 4096; alignment *= 2) {
    void* node = allocate_node(40, alignment);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(node) % alignment, 0U);
    EXPECT_TRUE(range_of(kind::node).contains(node));
    fill(node, 40, 7);
    nodes.push_back(node);
  }
  EXPECT_EQ(usage_of(kind::node).objects - before.objects, nodes.size());
  EXPECT_GE(usage_of(kind::node).bytes - before.bytes, nodes.size() * 40);
  for (void* node : nodes) {
    EXPECT_TRUE(holds(node, 40, 7));
    deallocate_node(node);
  }
  EXPECT_EQ(usage_of(kind::node).objects, before.objects);
  EXPECT_EQ(usage_of(kind::node).bytes, before.bytes);
}

TEST(NewbornHeap, GivesPagesBackWhenTrimmed) {
  std::vector<void*> objects;
  for (int i = 0; i < 64; ++i) {
    objects.push_back(allocate(kind::newborn, 1 << 20));
    fill(objects.back(), 1 << 20, i);
  }
  const std::uint64_t full = usage_of(kind::newborn).resident_bytes;
  for (void* object : objects) deallocate(object);
  trim();
  EXPECT_LE(usage_of(kind::newborn).resident_bytes + (std::uint64_t{60} << 20), full);
}

TEST(NodeHeap, ACacheKeepsNoSlabWhenTrimmed) {
  trim();
  const std::uint64_t before = usage_of(kind::node).extent_bytes;
  std::vector<void*> nodes;
  for (int i = 0; i < 4000; ++i) nodes.push_back(allocate_node(1000));
  for (void* node : nodes) deallocate_node(node);
  trim();
  EXPECT_LE(usage_of(kind::node).extent_bytes, before);
}

TEST(MisuseDeathTest, ForeignAndFreedPointersAreRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  int local = 0;
  EXPECT_DEATH(deallocate(&local), "not an object of these heaps");
  EXPECT_DEATH(allocate(kind::node, 8), "objects do not live among nodes");
  EXPECT_DEATH(
      {
        void* object = allocate(kind::hot, 24);
        deallocate(object);
        deallocate(object);
      },
      "freed twice|use-after-poison");
}

#if defined(ISOTHERM_ASAN)
TEST_P(EachHeap, UseAfterFreeIsReportedDeathTest) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto* object = static_cast<volatile char*>(allocate(GetParam(), 100));
  EXPECT_DEATH(static_cast<void>(object[104]), "use-after-poison");
  deallocate(const_cast<char*>(object));
  // Freed memory of a logged COLD may be on its way to the file: it stays readable.
  if (GetParam() == kind::cold && cold_is_logged()) return;
  EXPECT_DEATH(static_cast<void>(object[0]), "use-after-poison");
}
#endif

TEST(HeapThreads, TheNextThreadTakesTheLastOnesPlace) {
  std::array<std::uint32_t, 2> spreads{};
  for (std::uint32_t& spread : spreads) std::thread([&] { spread = local().spread; }).join();
  EXPECT_EQ(spreads[0], spreads[1]);
  EXPECT_NE(spreads[0], local().spread);
}

TEST(HeapThreads, AnyNumberHasCountersOfItsOwn) {
  constexpr std::ptrdiff_t kMany = 600;
  std::latch all_there(kMany);
  std::atomic<int> sharing{0};
  const usage before = usage_of(kind::newborn, residency::left_out);
  std::vector<std::thread> threads;
  for (std::ptrdiff_t i = 0; i < kMany; ++i) {
    threads.emplace_back([&] {
      void* const object = allocate(kind::newborn, 100);
      sharing += local().shared;
      all_there.arrive_and_wait();
      deallocate(object);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sharing, 0);
  EXPECT_EQ(usage_of(kind::newborn, residency::left_out).objects, before.objects);
}

}  // namespace
}  // namespace isotherm::heap
