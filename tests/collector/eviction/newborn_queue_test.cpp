// NEW as a queue in the order of birth.
#include "collector/scan/newborn_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/atomic.hpp"
#include "base/random.hpp"
#include "collector/protocol/veto.hpp"
#include "collector/window/migration.hpp"
#include "guide/guide.hpp"
#include "heap/configure.hpp"
#include "heap/ranges.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {
namespace {

using heap::kind;

constexpr std::size_t kBytes = 1016;  // 1 KiB with the header: 1,023 take an extent
constexpr std::size_t kInExtent = 1023;
constexpr std::uint64_t kExtent = std::uint64_t{1} << 20;

/// COLD lies in a file of a directory that is gone when the tests have run.
class ColdInAFile : public testing::Environment {
 public:
  void SetUp() override {
    heap::options chosen;
    chosen.cold = *heap::cold_backing::parse("file:" + directory_.path());
    const auto configured = heap::configure(chosen);
    ASSERT_TRUE(configured) << configured.error().message;
  }

 private:
  const testing_help::temporary_directory directory_;
};
[[maybe_unused]] const auto* const kColdInAFile =
    testing::AddGlobalTestEnvironment(new ColdInAFile);

class NewbornQueue : public testing::Test {
 protected:
  /// Makes the policy let objects of that size, of which nothing is known, leave.
  NewbornQueue() {
    heap::trim();  // no object takes a hole of another extent
    const options chosen;
    constexpr std::uint64_t kObjects = 1000;
    for (int windows = 0; windows < 2; ++windows) {
      decides_->begin_ageing(chosen);
      for (guides::word i = 1; i <= kObjects; ++i) {
        decides_->age(guides::make_word(i * kExtent, kind::newborn, kBytes));
      }
      const std::uint64_t bytes = kObjects * kBytes;
      decides_->weigh(chosen,
                      {.target_bytes = bytes / 2,
                       .dram_bytes = bytes,
                       .warm_bytes = bytes,
                       .warm_object_bytes = bytes,
                       .cold_objects = 0,
                       .spread = 1},
                      {});
    }
  }
  void fill(std::size_t extents) {
    for (std::size_t i = 0; i < extents * kInExtent; ++i) {
      held_.emplace_back(make_bytes(std::string(kBytes, 'x')));
    }
  }
  void use(std::size_t i) {
    const scope inside;
    held_[i].get(inside);
  }
  bool is_accessed(std::size_t i) { return guides::is_accessed(held_[i].slot().load_relaxed()); }
  /// A round. Returns what leaves.
  std::vector<candidate> round(std::uint64_t bytes) {
    std::vector<candidate> all, some;
    for (queue_.begin(bytes); !queue_.is_over();) {
      queue_.list_leaving(*decides_, ~std::uint64_t{0}, some);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  static bool holds(const std::vector<candidate>& listed, guide<bytes>& one) {
    return std::ranges::find(listed, &one.slot(), &candidate::slot) != listed.end();
  }

  std::unique_ptr<policy> decides_ = make_policy(policy_name::budget);
  newborn_queue queue_;
  std::vector<guide<bytes>> held_;
};

TEST_F(NewbornQueue, ForgetsInItsFirstRoundThatObjectsWereMade) {
  fill(4);
  for (std::size_t i = 0; i < held_.size(); ++i) use(i);
  EXPECT_TRUE(round(kExtent).empty());
  EXPECT_FALSE(is_accessed(0));
  EXPECT_TRUE(is_accessed(held_.size() - 1)) << "its extent takes more objects";
  EXPECT_TRUE(queue_.has_next());
}

TEST_F(NewbornQueue, LetsTheOldestLeaveAndKeepsThoseThatWereUsed) {
  fill(6);
  round(kExtent);
  use(7);
  const std::vector<candidate> listed = round(2 * kExtent);
  EXPECT_TRUE(holds(listed, held_[0]));
  EXPECT_FALSE(holds(listed, held_[4 * kInExtent]));
  // The extent that was open when the test began holds some of the first.
  EXPECT_GE(listed.size(), kInExtent);
  EXPECT_LE(listed.size(), 3 * kInExtent);
  for (const candidate& each : listed) {
    const bool was_used = each.slot == &held_[7].slot();
    EXPECT_EQ(each.target.where, was_used ? kind::hot : kind::cold);
  }
}

TEST_F(NewbornQueue, DoesNotForgetAUseAfterTheFirstRound) {
  fill(6);
  round(kExtent);
  use(3 * kInExtent);
  round(kExtent);
  EXPECT_TRUE(is_accessed(3 * kInExtent)) << "its extent was cleared before the use";
}

// An object in COLD keeps its rate in another way (use_memory::left_alone()).
TEST_F(NewbornQueue, GivesWhatLeavesTheWordThatItRestsWith) {
  fill(3);
  round(kExtent);
  const guides::word before = held_[0].slot().load_relaxed();
  round(~std::uint64_t{0});
  EXPECT_EQ(held_[0].slot().load_relaxed(), decides_->resting(before));
  EXPECT_NE(guides::history_of(held_[0].slot().load_relaxed()), 0u) << "0 is unknown";
}

TEST_F(NewbornQueue, ChoosesAnExtentOnceAWindow) {
  fill(3);
  round(kExtent);
  ASSERT_FALSE(round(~std::uint64_t{0}).empty());
  EXPECT_FALSE(queue_.has_next());
  EXPECT_TRUE(round(~std::uint64_t{0}).empty()) << "it keeps objects that do not leave";
  queue_.end_window();
  EXPECT_FALSE(round(~std::uint64_t{0}).empty());
}

// Objects of other sizes have an extent of their own, which closes later than younger ones.
TEST_F(NewbornQueue, ClearsAnExtentThatWasOpenInEarlierRounds) {
  std::vector<guide<bytes>> tiny;
  tiny.emplace_back(make_bytes("made first"));
  fill(4);
  round(kExtent);
  round(kExtent);
  const void* const first = guides::pointer_of(tiny[0].slot().load_relaxed());
  while (!heap::is_closed(first)) tiny.emplace_back(make_bytes("made later"));
  {
    const scope inside;
    tiny[0].get(inside);
  }
  const auto listed = round(~std::uint64_t{0});
  EXPECT_FALSE(holds(listed, tiny[0]));
  EXPECT_FALSE(guides::is_accessed(tiny[0].slot().load_relaxed()));
}

TEST_F(NewbornQueue, PausesWhenItsTimeHasCome) {
  fill(8);
  round(kExtent);
  std::vector<candidate> some;
  queue_.begin(~std::uint64_t{0});
  queue_.list_leaving(*decides_, 0, some);
  EXPECT_FALSE(queue_.is_over());
  EXPECT_TRUE(some.empty());
}

// An extent that a round has emptied may be opened anew before the round is over.
TEST_F(NewbornQueue, LeavesYoungerObjectsInPlacesOfOlderOnes) {
  fill(4);
  round(kExtent);
  queue_.begin(~std::uint64_t{0});
  held_.clear();
  heap::trim();
  fill(8);
  std::vector<candidate> some;
  while (!queue_.is_over()) {
    queue_.list_leaving(*decides_, ~std::uint64_t{0}, some);
    // The extent that was open when the round began is as old as it.
    EXPECT_LE(some.size(), kInExtent);
  }
}

// Rounds and moves beside threads that make, use, replace and destroy objects.
TEST_F(NewbornQueue, LosesNothingBesideThreadsThatUseItsObjects) {
  constexpr std::size_t kEach = 2 * kInExtent;
  constexpr int kThreads = 3;
  base::atomic<bool> is_over{false};
  base::atomic<int> wrong{0};
  const auto text_of = [](std::size_t i) { return std::to_string(i) + std::string(kBytes, 'x'); };
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      base::random random(static_cast<std::uint64_t>(t) + 1);
      std::vector<guide<bytes>> mine(kEach);
      while (!is_over.load_acquire()) {
        const std::size_t i = random.below(kEach);
        const scope inside;
        if (mine[i] && mine[i].get(inside)->view() != text_of(i)) wrong.fetch_add_relaxed(1);
        if (random.below(4) == 0) {
          mine[i] = guide<bytes>(make_bytes(text_of(i)));
        } else if (mine[i] && random.below(8) == 0) {
          static_cast<void>(mine[i].replace(inside, make_bytes(mine[i], text_of(i))));
        }
      }
    });
  }
  const auto protocol = make_veto_protocol();
  window_statistics seen;
  const auto moved = [&seen] { return seen.demoted.objects + seen.promoted.objects; };
  // The threads go on making objects, however little they run beside this one.
  for (int rounds = 0; moved() < 1000; ++rounds) {
    migration moves(*protocol, {64 << 10, 10'000'000}, [] { return false; }, seen);
    const std::vector<candidate> leaving = round(kExtent);
    for (moves.begin_list(leaving); moves.move_batch();) {
    }
    if (rounds % 10 == 0) queue_.end_window();
  }
  is_over.store_release(true);
  threads.clear();
  EXPECT_EQ(wrong.load_relaxed(), 0);
  EXPECT_TRUE(heap::is_valid());
}

}  // namespace
}  // namespace isotherm::collector
