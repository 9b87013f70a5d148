// Pages of NEW and HOT in which nothing lives go back, although objects keep their extents.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "heap/object.hpp"
#include "heap/packed/extent.hpp"
#include "heap/ranges.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::heap {
namespace {

class DeadPages : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(All, DeadPages, testing::Values(kind::newborn, kind::hot));

constexpr std::size_t kBytes = 1000, kExtents = 24;

/// Objects that fill some extents, of which one in `kept_of` stays; the others are freed.
std::vector<void*> fill_and_keep_some(kind where, std::size_t kept_of) {
  std::vector<void*> kept, freed;
  const std::size_t count = kExtents * kExtentUnits / units_of(kBytes);
  for (std::size_t i = 0; i < count; ++i) {
    void* const object = allocate(where, kBytes);
    std::memset(object, static_cast<int>(i % 251), kBytes);
    (i % kept_of == kept_of / 2 ? kept : freed).push_back(object);
  }
  for (void* object : freed) deallocate(object);
  trim();
  return kept;
}

/// Runs `work` on some threads, each with its number, while dead pages are released under them.
void release_while(kind where, const std::function<void(unsigned)>& work) {
  constexpr unsigned kThreads = 3;
  std::atomic<unsigned> running{kThreads};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      work(t);
      running.fetch_sub(1);
    });
  }
  while (running.load() > 0) release_dead_pages(where);
  threads.clear();
  trim();
}

TEST_P(DeadPages, GoBackAndWhatLivesBesideThemStays) {
  trim();
  for (int round = 0; round < 2; ++round) {  // the second fills extents that were thinned
    const std::uint64_t before = usage_of(GetParam()).resident_bytes;
    const std::size_t in_extent = kExtentUnits / units_of(kBytes);
    const std::vector<void*> kept = fill_and_keep_some(GetParam(), in_extent);
    const std::uint64_t sparse = usage_of(GetParam()).resident_bytes;
    EXPECT_GE(sparse, before + (kExtents - 4) * kExtentBytes) << "each extent has an object";
    EXPECT_GT(release_dead_pages(GetParam()), (kExtents - 4) * kExtentBytes * 9 / 10);
    // Two extents are open still.
    EXPECT_LE(usage_of(GetParam()).resident_bytes, before + 3 * kExtentBytes);
    EXPECT_EQ(release_dead_pages(GetParam()), 0u) << "each extent once";
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const auto* const bytes = static_cast<const unsigned char*>(kept[i]);
      const auto expected = static_cast<unsigned char>((i * in_extent + in_extent / 2) % 251);
      ASSERT_EQ(object_size(bytes), kBytes);
      ASSERT_EQ(bytes[0], expected);
      ASSERT_EQ(bytes[kBytes - 1], expected);
    }
    for (void* object : kept) deallocate(object);
    trim();
    EXPECT_TRUE(is_valid());
  }
}

TEST_P(DeadPages, StayWhereMoreThanHalfOfAnExtentLives) {
  trim();
  release_dead_pages(GetParam());
  std::vector<void*> kept, freed;
  for (std::size_t i = 0; i < kExtents * kExtentUnits / units_of(kBytes); ++i) {
    (i % 3 == 0 ? freed : kept).push_back(allocate(GetParam(), kBytes));
  }
  for (void* object : freed) deallocate(object);
  trim();
  EXPECT_LT(release_dead_pages(GetParam()), kExtentBytes) << "the last one may have begun emptier";
  for (void* object : kept) deallocate(object);
}

// Pages that a load left behind in the extents to which it appended last.
TEST_P(DeadPages, GoBackFromExtentsThatAreAppendedTo) {
  // Lets this thread begin without open extents: an unused one would not be closed.
  for (const std::size_t bytes : {std::size_t{20}, kBytes}) {
    deallocate(allocate(GetParam(), bytes));
  }
  trim();
  release_dead_pages(GetParam());
  const std::uint64_t before = usage_of(GetParam()).extent_bytes;
  for (int round = 0; round < 3; ++round) {
    void* const small = allocate(GetParam(), 20);
    void* const large = allocate(GetParam(), kBytes);
    EXPECT_EQ(usage_of(GetParam()).extent_bytes, before + 2 * kExtentBytes);
    deallocate(large);
    trim();
    EXPECT_GT(release_dead_pages(GetParam()), 0u);
    EXPECT_EQ(usage_of(GetParam()).extent_bytes, before + kExtentBytes);
    deallocate(small);
    trim();
    EXPECT_GT(release_dead_pages(GetParam()), 0u);
    EXPECT_EQ(usage_of(GetParam()).extent_bytes, before);
    EXPECT_EQ(release_dead_pages(GetParam()), 0u);
  }
  EXPECT_TRUE(is_valid());
}

// Room that no thread gets any more, of an extent to be emptied soon, counts as freed there.
TEST_P(DeadPages, AHoleOfASparseExtentIsNotTaken) {
  constexpr std::size_t kHoleUnits = 70, kOthersUnits = kHoleUnits + 64;  // of the same bin
  const auto bytes_of = [](std::size_t units) { return units * kUnitBytes - kHeaderBytes; };
  trim();
  std::vector<void*> others;
  void* const hole = allocate(GetParam(), bytes_of(kHoleUnits));
  while (others.size() <= kExtentUnits / kOthersUnits) {
    others.push_back(allocate(GetParam(), bytes_of(kOthersUnits)));
  }
  void* const stays = others.front();  // so that the extent does
  deallocate(hole);
  for (void* each : others) {
    if (each != stays) deallocate(each);  // the bin holds another size
  }
  void* const next = allocate(GetParam(), bytes_of(kHoleUnits));
  EXPECT_NE(next, hole);
  EXPECT_EQ(racy_header(hole).mark, kFreedMark);
  deallocate(next);
  deallocate(stays);
  trim();
  EXPECT_TRUE(is_valid());
}

// A thread that appended to one that went back has waited for it: it would wait for each object
// else, when memory is short and objects leave as fast as they come.
TEST_P(DeadPages, NobodyWaitsTwiceForAnExtentThatWentBack) {
  std::vector<void*> first;  // until this thread has opened an extent, and filled it
  for (std::size_t i = 0; i <= kExtentUnits / units_of(kBytes); ++i) {
    first.push_back(allocate(GetParam(), kBytes));
  }
  allow_growth(0);
  const std::uint64_t before = slowed_allocations();
  for (void* each : first) deallocate(each);
  trim();
  EXPECT_GT(release_dead_pages(GetParam()), 0u);
  std::vector<void*> next{allocate(GetParam(), kBytes)};
  EXPECT_EQ(slowed_allocations(), before);
  while (next.size() <= kExtentUnits / units_of(kBytes)) {
    next.push_back(allocate(GetParam(), kBytes));
  }
  EXPECT_EQ(slowed_allocations(), before + 1) << "for the one after it";
  allow_growth(kUnlimitedGrowth);
  for (void* each : next) deallocate(each);
}

// Extents are closed under threads that append to them, and each is given back once.
TEST_P(DeadPages, GoBackFromExtentsUnderThreadsThatAppend) {
#if defined(ISOTHERM_SANITIZED)
  constexpr int kSteps = 1'000;
#else
  constexpr int kSteps = 20'000;
#endif
  release_while(GetParam(), [](unsigned t) {
    for (int i = 0; i < kSteps; ++i) {
      auto* const one = static_cast<unsigned char*>(allocate(GetParam(), kBytes));
      const auto content = static_cast<unsigned char>(t + 3 * static_cast<unsigned>(i));
      std::memset(one, content, kBytes);
      EXPECT_TRUE(one[0] == content && one[kBytes - 1] == content);
      deallocate(one);
      trim();
    }
  });
  release_dead_pages(GetParam());
  EXPECT_TRUE(is_valid());
}

// Threads allocate and free while extents are thinned under them.
TEST_P(DeadPages, NobodyElsesObjectIsTouched) {
#if defined(ISOTHERM_SANITIZED)
  constexpr int kSteps = 20'000;
#else
  constexpr int kSteps = 200'000;
#endif
  release_while(GetParam(), [](unsigned t) {
    base::random random(t + 1);
    struct held {
      unsigned char* bytes = nullptr;
      std::size_t size = 0;
      unsigned char content = 0;
    };
    std::vector<held> mine(2'000);
    const auto drop = [](held& one) {
      if (!one.bytes) return;
      ASSERT_EQ(one.bytes[0], one.content);
      ASSERT_EQ(one.bytes[one.size - 1], one.content);
      deallocate(one.bytes);
      one.bytes = nullptr;
    };
    for (int i = 0; i < kSteps; ++i) {
      // Most of a neighbourhood goes at once, so that extents get sparse.
      held& one = mine[random.below(16) == 0 ? random.below(mine.size())
                                             : static_cast<std::size_t>(i) % mine.size()];
      drop(one);
      if (random.below(8) == 0) continue;
      one.size = 1 + random.below(3'000);
      one.content = static_cast<unsigned char>(random.below(256));
      one.bytes = static_cast<unsigned char*>(allocate(GetParam(), one.size));
      ASSERT_NE(one.bytes, nullptr);
      std::memset(one.bytes, one.content, one.size);
    }
    for (held& one : mine) drop(one);
  });
  EXPECT_TRUE(is_valid());
}

}  // namespace
}  // namespace isotherm::heap
