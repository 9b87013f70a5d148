// Many threads allocate, hand over and free; contents and counters stay whole. Under
// ThreadSanitizer the plain writes prove that reuse of memory is ordered by the heaps' own atomics.
#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "heap/node.hpp"
#include "heap/object.hpp"
#include "heap/ranges.hpp"
#include "heap/usage.hpp"

namespace isotherm::heap {
namespace {

constexpr int kThreads = 6;
constexpr int kSteps = 20'000;

/// A table in which threads leave objects for each other.
class exchange {
 public:
  /// Leaves `object` and takes what another thread left, or null.
  void* swap(std::size_t slot, void* object) {
    const std::lock_guard lock(mutex_);
    return std::exchange(slots_[slot % slots_.size()], object);
  }
  std::array<void*, 512>& slots() { return slots_; }

 private:
  std::mutex mutex_;
  std::array<void*, 512> slots_{};
};

void write_object(void* object, std::size_t bytes) {
  auto* at = static_cast<unsigned char*>(object);
  for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<unsigned char>(bytes + i);
}

bool is_intact(const void* object) {
  const std::size_t bytes = object_size(object);
  const auto* at = static_cast<const unsigned char*>(object);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (at[i] != static_cast<unsigned char>(bytes + i)) return false;
  }
  return true;
}

int churn(kind where, std::uint64_t seed, exchange& shared) {
  base::random random(seed);
  int damaged = 0;
  for (int step = 0; step < kSteps; ++step) {
    const std::size_t bytes = random.below(1000) == 0 ? random.below(1'500'000) : random.below(600);
    void* object = allocate(where, bytes);
    if (object == nullptr) return -1;
    write_object(object, bytes);
    void* other = shared.swap(random.below(512), object);
    if (other == nullptr) continue;
    damaged += !is_intact(other);
    deallocate(other);
  }
  return damaged;
}

class Stress : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(All, Stress, testing::Values(kind::newborn, kind::hot, kind::cold));

TEST_P(Stress, ObjectsSurviveHandOverBetweenThreads) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const usage before = usage_of(GetParam(), residency::left_out);
  exchange shared;
  std::array<int, kThreads> damaged{};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        damaged[static_cast<std::size_t>(t)] =
            churn(GetParam(), seed + static_cast<std::uint64_t>(t), shared);
      });
    }
  }
  for (const int count : damaged) EXPECT_EQ(count, 0);
  for (void* left : shared.slots()) {
    if (left != nullptr) deallocate(left);
  }
  const usage after = usage_of(GetParam(), residency::left_out);
  EXPECT_EQ(after.objects, before.objects);
  EXPECT_EQ(after.bytes, before.bytes);
  EXPECT_TRUE(is_valid());
}

TEST(Stress, NodesAreFreedByOtherThreads) {
  exchange shared;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&shared, t] {
        base::random random(t);
        for (int step = 0; step < kSteps; ++step) {
          const std::size_t bytes = 8 + random.below(300);
          void* node = allocate_node(bytes, 64);
          write_object(node, bytes);
          if (void* other = shared.swap(random.below(512), node)) deallocate_node(other);
        }
      });
    }
  }
  for (void* left : shared.slots()) {
    if (left != nullptr) deallocate_node(left);
  }
  EXPECT_EQ(usage_of(kind::node, residency::left_out).objects, 0U);
}

TEST(Stress, ThreadsThatComeAndGoHandTheirStateOn) {
  const usage before = usage_of(kind::newborn, residency::left_out);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 32; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 20; ++i) deallocate(allocate(kind::newborn, 100));
      });
    }
  }
  EXPECT_EQ(usage_of(kind::newborn, residency::left_out).objects, before.objects);
}

}  // namespace
}  // namespace isotherm::heap
