#include "collector/policy/temperature.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/random.hpp"

namespace isotherm::collector {
namespace {

constexpr rate kAlways = kRates - 1;

enum class window : unsigned char { used, idle };
rate after(const use_memory& memory, rate before, window was, base::random& random) {
  const auto bits = static_cast<std::uint16_t>(random());
  return was == window::used ? memory.used(before, bits) : memory.idle(before, bits);
}

void end(use_memory& memory, std::uint64_t used, std::uint64_t misses, double load = 1) {
  memory.end_window();
  memory.note({.objects = used, .misses = misses, .load = load});
}

/// The load of objects in DRAM when others are used.
constexpr double kOthersAreUsed = 0.3;

/// The rate of an object that is used with a chance of `share` in each of so many windows.
rate settled(use_memory& memory, double share, unsigned windows, base::random& random) {
  rate r = 0;
  for (unsigned i = 0; i < windows; ++i) {
    end(memory, 1000, 0);
    r = after(memory, r, random.unit() < share ? window::used : window::idle, random);
  }
  return r;
}

TEST(Temperature, NeverAndAlways) {
  EXPECT_EQ(share_of(0), 0);
  EXPECT_EQ(share_of(kAlways), 1);
  EXPECT_NEAR(share_of(kAlways - 256), 0.5, 1e-12);
  base::random random(1);
  use_memory memory;
  EXPECT_EQ(settled(memory, 0, 100, random), 0);
  EXPECT_GT(share_of(settled(memory, 1, 1000, random)), 0.97);
}

TEST(Temperature, IsTheShareOfWindowsInWhichAnObjectIsUsed) {
  std::uint64_t seed = 7;
  for (const double share : {0.02, 0.1, 0.5, 0.9}) {
    SCOPED_TRACE(share);
    base::random random(seed++);
    use_memory memory;
    std::array<rate, 400> objects{};
    for (unsigned i = 0; i < kLongestMemory; ++i) {
      end(memory, objects.size(), 0);
      for (auto& r : objects) {
        r = after(memory, r, random.unit() < share ? window::used : window::idle, random);
      }
    }
    double sum = 0;
    for (const rate r : objects) sum += share_of(r);
    // The mean of 400 times 256 windows: its deviation is sqrt(share / 100,000), rounding aside.
    EXPECT_NEAR(sum / objects.size(), share, 0.05 * share + 4 * std::sqrt(share / 1e5));
  }
}

TEST(Temperature, OneUseWeighsLessThanManyAndLessTheLongerTheMemory) {
  use_memory memory;
  end(memory, 1000, 0);
  const rate soon = memory.used(0, 0);
  rate often = soon;
  for (int i = 0; i < 20; ++i) {
    end(memory, 1000, 0);
    often = memory.used(often, 0);
  }
  EXPECT_GT(often, soon);
  EXPECT_LT(memory.used(0, 0), soon);
}

TEST(Temperature, TheMemoryGrowsToItsLimitAndStartsAnewWithUnexpectedMisses) {
  use_memory memory;
  for (unsigned i = 0; i < kLongestMemory + 50; ++i) end(memory, 10000, 1000 + i % 7);
  EXPECT_EQ(memory.length(), kLongestMemory);
  EXPECT_EQ(memory.restarts(), 0u);
  end(memory, 10000,
      1200);  // above what is expected, and not by so much that the load changed
  EXPECT_EQ(memory.restarts(), 0u);
  end(memory, 10000, 1600, kOthersAreUsed);
  EXPECT_EQ(memory.restarts(), 1u);
  end(memory, 10000, 1500);  // the new load's misses are what is expected now
  EXPECT_EQ(memory.restarts(), 1u);
  EXPECT_EQ(memory.length(), 1u);
}

// Models a look through all records beside a load that goes on unchanged.
TEST(Temperature, UnexpectedMissesBesideTheSameLoadMakeTheMemoryShorter) {
  use_memory memory;
  for (unsigned i = 0; i < kLongestMemory; ++i) end(memory, 10000, 1000);
  for (const double load : {1.0, 1.5, 0.8}) {
    end(memory, 30000, 20000, load);
    EXPECT_LE(memory.length(), kShortMemory + 1);
  }
  EXPECT_EQ(memory.restarts(), 0u);
  for (unsigned i = 0; i < kLongestMemory; ++i) end(memory, 10000, 1000);
  EXPECT_EQ(memory.length(), kLongestMemory);
}

// After a pause nothing tells what the load had been.
TEST(Temperature, UnexpectedMissesOfAnUnknownLoadStartTheMemoryAnew) {
  use_memory memory;
  for (unsigned i = 0; i < 20; ++i) end(memory, 10000, 100);
  end(memory, 10000, 5000, kOthersAreUsed);
  EXPECT_EQ(memory.restarts(), 1u);
  for (unsigned i = 0; i < 20; ++i) end(memory, 10, 0, 0.001);
  end(memory, 10000, 9000);
  EXPECT_EQ(memory.restarts(), 2u);
}

TEST(Temperature, AShorterWindowOfTheSameLoadASecondIsTheSameLoad) {
  use_memory memory;
  for (unsigned i = 0; i < 20; ++i) end(memory, 10000, 100);
  for (const double seconds : {0.5, 1.0}) {
    memory.end_window();
    memory.note({.objects = 5000, .misses = 4000, .load = 0.5, .seconds = seconds});
    EXPECT_EQ(memory.restarts(), seconds == 1 ? 1u : 0u);
  }
}

TEST(Temperature, WhatIsExpectedIsOfTheLoadSoThatShorterWindowsChangeNothing) {
  use_memory memory;
  for (unsigned i = 0; i < 20; ++i) end(memory, 1000, 100);
  for (const double load : {10.0, 0.2, 30.0, 0.1}) {
    const auto used = static_cast<std::uint64_t>(1000 * load);
    end(memory, used, used / 10, load);
  }
  EXPECT_EQ(memory.restarts(), 0u);
}

// Models a client that scans while all other clients pause.
TEST(Temperature, AWindowOfFewUsesRestartsNothing) {
  use_memory memory;
  for (unsigned i = 0; i < 20; ++i) end(memory, 1000, 10);
  end(memory, 100, 90, 0.01);
  EXPECT_EQ(memory.restarts(), 0u);
  end(memory, 1000, 10);
  end(memory, 200, 90, 0.1);
  EXPECT_EQ(memory.restarts(), 1u);
}

TEST(Load, IsThatAtWhichAsManyAreUsed) {
  objects_by_rate objects{};
  EXPECT_EQ(load_of(objects, 100), 1) << "nothing tells";
  const auto group_of = [](double share) { return rate_of(share) / kRatesPerGroup; };
  objects[group_of(0.5)] = 1000;
  objects[group_of(0.01)] = 10'000;
  for (const double load : {0.1, 0.5, 1.0, 2.0, 8.0}) {
    const double used = 1000 * (1 - std::pow(0.5, load)) + 10'000 * (1 - std::pow(0.99, load));
    EXPECT_NEAR(load_of(objects, static_cast<std::uint64_t>(used)) / load, 1, 0.12) << load;
  }
  EXPECT_LT(load_of(objects, 0), 1e-3);
  EXPECT_NEAR(load_of(objects, 11'000), 64, 1e-6);
}

TEST(Temperature, ChanceInFewMissesRestartsNothing) {
  base::random random(3);
  use_memory memory;
  for (unsigned i = 0; i < 2000; ++i) end(memory, 1000, random.below(4));
  EXPECT_EQ(memory.restarts(), 0u);
}

TEST(Temperature, AfterARestartTheNewHotObjectPassesTheOldOneWithinTwoWindows) {
  base::random random(5);
  use_memory memory;
  rate old_one = settled(memory, 1, 300, random);
  rate new_one = 0;
  end(memory, 10000, 10);
  // Notes a window that has just been aged.
  memory.note({.objects = 10000, .misses = 1000, .load = kOthersAreUsed});
  for (int i = 0; i < 2; ++i) {
    end(memory, 10000, 1000);
    old_one = after(memory, old_one, window::idle, random);
    new_one = after(memory, new_one, window::used, random);
  }
  EXPECT_GT(new_one, old_one);
}

TEST(Temperature, AnObjectLeftAloneFadesAsIfItHadBeenLookedAt) {
  base::random random(9);
  use_memory memory;
  const rate before = settled(memory, 0.5, 100, random);
  rate watched = before;
  rate kept = memory.left_alone(before);
  for (int i = 0; i < 200; ++i) {
    end(memory, 1000, 0);
    watched = after(memory, watched, window::idle, random);
  }
  // To within an era: 32 windows of 1/100 .. 1/256 each, half an octave at the most.
  const rate looked = memory.looked_at(kept);
  EXPECT_NEAR(looked, watched, 128);
  EXPECT_LT(looked, before - 256);
  kept = memory.left_alone(looked);
  EXPECT_NEAR(memory.looked_at(kept), looked, 32);
}

TEST(Temperature, ErasGoRound) {
  use_memory memory;
  for (unsigned i = 0; i < 3 * kEras * kEraWindows + 5; ++i) {
    end(memory, 1000, 0);
    const rate kept = memory.left_alone(3000);
    EXPECT_EQ(kept % kEras, memory.era());
    EXPECT_NEAR(memory.looked_at(kept), 3000, kEras / 2);
  }
}

TEST(Temperature, ErasAreToldApartForAThousandWindows) {
  use_memory memory;
  const rate kept = memory.left_alone(3000);
  rate before = memory.looked_at(kept);
  for (unsigned i = 1; i < kEras; ++i) {
    for (unsigned w = 0; w < kEraWindows; ++w) end(memory, 1000, 0);
    EXPECT_LE(memory.looked_at(kept), before);
    before = memory.looked_at(kept);
  }
  EXPECT_LT(before, 1500);
}

TEST(Temperature, NeverStaysNeverInCold) {
  use_memory memory;
  for (int i = 0; i < 100; ++i) end(memory, 1000, 0);
  EXPECT_EQ(memory.looked_at(memory.left_alone(0)), 0);
}

TEST(Cut, KeepsTheHighestRatesThatHaveRoom) {
  std::array<std::uint64_t, kRates> objects{};
  objects[4000] = 10;
  objects[3000] = 20;
  objects[0] = 1000;
  EXPECT_EQ(cut_for(objects, 9), 4001u);
  EXPECT_EQ(cut_for(objects, 10), 3001u);
  EXPECT_EQ(cut_for(objects, 30), 1u);
  EXPECT_EQ(cut_for(objects, 1030), 0u);
  EXPECT_EQ(cut_for(std::array<std::uint64_t, kRates>{}, 0), 0u);
  objects[kAlways] = 5;
  EXPECT_EQ(cut_for(objects, 4), kRates);
}

}  // namespace
}  // namespace isotherm::collector
