// Objects that are written where they lie, beside a collector that puts them into COLD, in a file:
// a use finds them in HOT, and no write is lost.
//
// ISOTHERM_STRESS_OPS sets the steps of each thread; ISOTHERM_TEST_SEED repeats a run.
#include "guide/in_place.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "collector/collector.hpp"
#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/cold_file.hpp"
#include "sync/epoch.hpp"

namespace isotherm {
namespace {

using heap::kind;

/// Its ends lie in different pages now and then.
struct record {
  explicit record(std::uint64_t number) : first(number), last(number) {}
  std::uint64_t first;
  std::array<char, 1500> body{};
  std::uint64_t last;
};

template <class T>
bool is_object_out(const guide<T>& g) {
  return heap::is_out(guides::pointer_of(g.slot().load_acquire()));
}
template <class T>
kind heap_of(const guide<T>& g) {
  return guides::heap_of(g.slot().load_acquire());
}

collector::options demotes_all() {
  collector::options chosen;
  chosen.window_seconds = 0.001;
  chosen.policy = collector::policy_name::published;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  chosen.target_promotion_rate = 1e18;
  chosen.hint = heap::hint::pageout;
  return chosen;
}

/// The place of the object when it is used.
enum class place { in_memory, out };

class InPlace : public testing::TestWithParam<place> {
 protected:
  static void SetUpTestSuite() { testing_help::cold_in_a_file(); }
  void let_leave() {
    if (GetParam() == place::in_memory) return;
    testing_help::close_cold_extents();
    testing_help::page_out_all();
    sync::reclaim_ready();
  }
  void SetUp() override {
    number_ = guide<long>(testing_help::object_in_cold<long>(7));
    record_ = guide<record>(testing_help::object_in_cold<record>(8));
    let_leave();
    ASSERT_EQ(heap_of(record_), kind::cold);
    ASSERT_EQ(is_object_out(record_), GetParam() == place::out);
    ASSERT_EQ(is_object_out(number_), GetParam() == place::out);
  }

  guide<long> number_;
  guide<record> record_;
};
INSTANTIATE_TEST_SUITE_P(Places, InPlace, testing::Values(place::in_memory, place::out),
                         [](const auto& info) {
                           return info.param == place::out ? "Out" : "InMemory";
                         });

TEST_P(InPlace, AUseFindsItInHot) {
  const scope inside;
  const long* const number = number_.get(inside);
  ASSERT_NE(number, nullptr);
  EXPECT_EQ(*number, 7);
  EXPECT_TRUE(heap::range_of(kind::hot).contains(number));
  EXPECT_EQ(number_.get(inside), number);
  access own;
  const record* const found = record_.get(own);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->first, 8u);
  EXPECT_EQ(found->last, 8u);
  EXPECT_TRUE(heap::range_of(kind::hot).contains(found));
}

TEST_P(InPlace, APeekFindsItInHotToo) {
  const scope inside;
  EXPECT_TRUE(heap::range_of(kind::hot).contains(number_.peek(inside)));
  access own(access::when_cold::record);
  record* const found = record_.peek(own);
  ASSERT_NE(found, nullptr) << "it is waited for";
  EXPECT_TRUE(heap::range_of(kind::hot).contains(found));
  EXPECT_EQ(own.result(), access::outcome::complete);
}

TEST_P(InPlace, ALookAheadBringsItBackAsWell) {
  access ahead(access::when_cold::prefetch);
  EXPECT_TRUE(heap::range_of(kind::hot).contains(record_.get(ahead)));
  EXPECT_EQ(ahead.result(), access::outcome::complete);
}

TEST_P(InPlace, WhatIsWrittenIsThereWhenItHasLeftAgain) {
  collector::object_collector collector(demotes_all());
  long number = 7;
  std::uint64_t in_record = 8;
  for (int round = 0; round < 4; ++round) {
    {
      const scope inside;
      long* const found = number_.get(inside);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(*found, number);
      write_in_place(*found, ++number);
      EXPECT_EQ(*number_.get(inside), number);
      record* const other = record_.get(inside);
      ASSERT_NE(other, nullptr);
      EXPECT_EQ(other->first, in_record);
      EXPECT_EQ(other->last, in_record);
      write_in_place(other->first, ++in_record);
      write_in_place(other->last, in_record);
    }
    for (int i = 0; i < 20 && (heap_of(number_) != kind::cold || heap_of(record_) != kind::cold);
         ++i) {
      collector.run_window();
    }
    ASSERT_EQ(heap_of(number_), kind::cold);
    ASSERT_EQ(heap_of(record_), kind::cold);
    let_leave();
    ASSERT_EQ(is_object_out(record_), GetParam() == place::out);
  }
}

/// A node that is replaced by a copy of itself: a scope that has the old one finds the object that
/// the new one has.
TEST_P(InPlace, ItIsOneObjectByWayOfAnOldSlotToo) {
  guide<record> copy(relocation{}, record_);
  copy.finish_relocation();
  {
    const scope inside;
    record* const by_old = record_.get(inside);
    ASSERT_NE(by_old, nullptr);
    EXPECT_EQ(by_old, copy.get(inside));
    write_in_place(by_old->first, 9);
    EXPECT_EQ(copy.get(inside)->first, 9u);
  }
  record_.slot().store_relaxed(0);  // the node's destructor is not run
}

// ---- Beside a collector that demotes and pages out all the time.

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const given = std::getenv(variable);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

class InPlaceStress : public testing::TestWithParam<const char*> {
 protected:
  static constexpr unsigned kThreads = 3;
  static constexpr std::uint64_t kKeys = 600;
  static constexpr std::uint64_t kUsedTogether = 40;
  static constexpr std::uint64_t kFoundInCold = 200, kDemoted = 400;
  static constexpr std::uint64_t kPatience = 500;

  static void SetUpTestSuite() { testing_help::cold_in_a_file(); }
  InPlaceStress() {
    for (std::uint64_t i = 0; i < kKeys; ++i) guides_.push_back(make_guide<record>(0));
  }

  /// Writes its own objects, of which it knows what they hold, and reads the others: what an object
  /// holds counts up. Uses some keys for a while, so that the others get cold.
  void work(unsigned thread, std::uint64_t seed, std::uint64_t steps) {
    base::random random(seed + thread);
    std::vector<std::uint64_t> seen(kKeys, 0);
    const auto may_end = [this] { return found_in_cold_ >= kFoundInCold && demoted_ >= kDemoted; };
    for (std::uint64_t i = 0; i < steps || (!may_end() && i < kPatience * steps); ++i) {
      constexpr std::uint64_t kWhile = 200;
      const std::uint64_t key = (i / kWhile * kUsedTogether + random.below(kUsedTogether)) % kKeys;
      const guides::word before = guides_[key].slot().load_acquire();
      const scope inside;
      record* const found = guides_[key].get(inside);
      ASSERT_NE(found, nullptr);
      if (guides::is_in_cold(before)) ++found_in_cold_;
      const auto first = __atomic_load_n(&found->first, __ATOMIC_RELAXED);
      if (key % kThreads != thread) {
        ASSERT_GE(first, seen[key]) << key;
        seen[key] = first;
        continue;
      }
      ASSERT_EQ(first, seen[key]) << key;
      ASSERT_EQ(found->last, seen[key]) << key;
      ++seen[key];
      write_in_place(found->first, seen[key]);
      std::this_thread::yield();
      write_in_place(found->last, seen[key]);
    }
  }

  std::vector<guide<record>> guides_;
  std::atomic<std::uint64_t> found_in_cold_{0}, demoted_{0};
};

TEST_P(InPlaceStress, NoWriteIsLost) {
  const std::uint64_t seed = number_from("ISOTHERM_TEST_SEED", std::random_device{}());
  std::cout << "ISOTHERM_TEST_SEED=" << seed << '\n';
  const std::uint64_t steps = number_from("ISOTHERM_STRESS_OPS", 5000);
  collector::options chosen = demotes_all();
  chosen.protocol = GetParam();
  collector::object_collector collector(chosen);
  collector.run_window();
  std::atomic<bool> is_done{false};
  std::jthread collecting([&] {
    do {
      demoted_ += collector.run_window().demoted.objects;
    } while (!is_done);
  });
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back([this, t, seed, steps] { work(t, seed, steps); });
    }
  }
  is_done = true;
  collecting.join();
  EXPECT_GE(demoted_, kDemoted);
  EXPECT_GE(found_in_cold_, kFoundInCold);
  std::cout << demoted_ << " demoted, " << found_in_cold_ << " found in COLD\n";
}

INSTANTIATE_TEST_SUITE_P(Protocols, InPlaceStress, testing::Values("veto", "counts"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace isotherm
