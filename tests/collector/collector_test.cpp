// Windows run by hand: what they see, decide and move.
#include "collector/collector.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <latch>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_state.hpp"
#include "collector/protocol/protocol.hpp"
#include "guide/guide.hpp"
#include "heap/upkeep.hpp"
#include "os/clock.hpp"
#include "os/scheduling.hpp"

namespace isotherm::collector {
namespace {

using heap::kind;

options by_hand(std::string protocol) {
  options chosen;
  chosen.policy = policy_name::published;
  chosen.adaptive_threshold = false;
  chosen.cold_threshold = 2;
  chosen.protocol = std::move(protocol);
  return chosen;
}

class Collector : public testing::TestWithParam<std::string> {
 protected:
  void fill(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      guides_.emplace_back(make_bytes(std::string(100, static_cast<char>('a' + i % 26))));
    }
  }
  void touch(std::size_t from, std::size_t to) {
    const scope inside;
    for (std::size_t i = from; i < to; ++i) guides_[i].get(inside);
  }
  kind heap_of(std::size_t i) { return guides::heap_of(guides_[i].slot().load_relaxed()); }
  void expect_content() {
    const scope inside;
    for (std::size_t i = 0; i < guides_.size(); ++i) {
      EXPECT_EQ(guides_[i].get(inside)->view(), std::string(100, static_cast<char>('a' + i % 26)));
    }
  }

  std::vector<guide<bytes>> guides_;
  object_collector collector_{by_hand(GetParam())};
};

TEST_P(Collector, AccessedGoesHotAndIdleGoesCold) {
  fill(100);
  touch(0, 10);
  const auto first = collector_.run_window();
  EXPECT_EQ(first.scanned_guides, 100u);
  EXPECT_EQ(first.accessed_objects, 10u);
  EXPECT_EQ(first.accessed_bytes, 10 * 100U);
  EXPECT_EQ(first.promoted.objects, 10u);
  EXPECT_EQ(first.demoted.objects, 0u);
  touch(0, 10);
  const auto second = collector_.run_window();
  EXPECT_EQ(second.demoted.objects, 90u);
  EXPECT_EQ(second.heaps[kind::newborn].objects, 0u);
  EXPECT_EQ(second.heaps[kind::hot].objects, 10u);
  EXPECT_EQ(second.heaps[kind::cold].objects, 90u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(heap_of(i), i < 10 ? kind::hot : kind::cold);
  expect_content();
}

TEST_P(Collector, CostFollowsTheWarmSet) {
  fill(1000);
  collector_.run_window();
  collector_.run_window();
  touch(0, 7);
  EXPECT_EQ(collector_.run_window().scanned_guides, 7u) << "COLD objects are not scanned";
}

TEST_P(Collector, AColdObjectThatIsUsedComesBack) {
  fill(10);
  collector_.run_window();
  collector_.run_window();
  ASSERT_EQ(heap_of(3), kind::cold);
  touch(3, 4);
  const auto statistics = collector_.run_window();
  EXPECT_EQ(statistics.promoted.objects, 1u);
  EXPECT_GE(statistics.accessed_cold_pages, 1u);
  EXPECT_LE(statistics.accessed_cold_pages, 2u);  // it may lie across the end of one
  EXPECT_GT(statistics.promotion_rate, 0.0);
  EXPECT_EQ(heap_of(3), kind::hot);
  expect_content();
}

TEST_P(Collector, AnObjectInUseStaysWhereItIs) {
  fill(2);
  collector_.run_window();
  std::latch holding(1), may_go(1);
  std::thread user([&] {
    const scope inside;
    const char* before = guides_[0].get(inside)->data();
    holding.count_down();
    may_go.wait();
    EXPECT_EQ(guides_[0].get(inside)->data(), before);
  });
  holding.wait();
  // The scope was open before the epoch: the epoch must be abandoned, not forced.
  auto chosen = collector_.configuration();
  chosen.epoch_timeout_us = 2000;
  ASSERT_TRUE(collector_.reconfigure(chosen));
  const auto statistics = collector_.run_window();
  EXPECT_GE(statistics.abandoned_epochs, 1u);
  EXPECT_EQ(statistics.promoted.objects + statistics.demoted.objects, 0u);
  may_go.count_down();
  user.join();
}

TEST_P(Collector, LookingAtEverythingWarmsNothing) {
  fill(100);
  while (heap_of(0) != kind::cold) collector_.run_window();
  {
    const scope inside;
    for (auto& each : guides_) ASSERT_NE(each.peek(inside), nullptr);
  }
  const auto seen = collector_.run_window();
  EXPECT_EQ(seen.accessed_objects, 0u);
  EXPECT_EQ(seen.promoted.objects, 0u);
  expect_content();
}

TEST_P(Collector, TrackModeMovesNothing) {
  auto chosen = collector_.configuration();
  chosen.manage = mode::track;
  ASSERT_TRUE(collector_.reconfigure(chosen));
  fill(10);
  touch(0, 5);
  for (int i = 0; i < 5; ++i) collector_.run_window();
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(heap_of(i), kind::newborn);
}

TEST_P(Collector, AReplacedHotObjectStaysHot) {
  fill(1);
  touch(0, 1);
  collector_.run_window();
  ASSERT_EQ(heap_of(0), kind::hot);
  {
    const scope inside;
    EXPECT_TRUE(guides_[0].replace(inside, make_bytes(guides_[0], std::string(100, 'a'))));
  }
  EXPECT_EQ(heap_of(0), kind::hot) << "temperature is inherited";
  collector_.run_window();
  EXPECT_EQ(heap_of(0), kind::hot);
}

TEST_P(Collector, AReplacedColdObjectIsScannedAgain) {
  fill(1);
  collector_.run_window();
  collector_.run_window();
  ASSERT_EQ(heap_of(0), kind::cold);
  {
    const scope inside;
    EXPECT_TRUE(guides_[0].replace(inside, make_bytes(guides_[0], std::string(100, 'a'))));
  }
  EXPECT_EQ(collector_.run_window().scanned_guides, 1u);
  EXPECT_EQ(heap_of(0), kind::hot);
  expect_content();
}

TEST_P(Collector, UtilizationRisesWhenTheHotAreTogether) {
  for (int i = 0; i < 4000; ++i) guides_.emplace_back(make_bytes(std::string(1020, 'x')));
  const auto touch_every_fourth = [this] {
    const scope inside;
    for (std::size_t i = 0; i < guides_.size(); i += 4) guides_[i].get(inside);
  };
  touch_every_fourth();
  const double before = collector_.run_window().page_utilization;
  touch_every_fourth();
  const double after = collector_.run_window().page_utilization;
  EXPECT_LT(before, 0.35);
  EXPECT_GT(after, 0.95);
}

TEST_P(Collector, HotAndColdAreCompacted) {
  fill(0);
  for (int i = 0; i < 20'000; ++i) guides_.emplace_back(make_bytes(std::string(1020, 'x')));
  collector_.run_window();
  collector_.run_window();  // all in COLD: about 20 MiB
  const auto full = heap::packing_of(kind::cold);
  std::vector<guide<bytes>> kept;
  for (std::size_t i = 0; i < guides_.size(); i += 4) kept.push_back(std::move(guides_[i]));
  guides_.clear();
  guides_ = std::move(kept);
  const auto statistics = collector_.run_window();
  EXPECT_GT(statistics.compacted.objects, 0u);
  const auto packed = heap::packing_of(kind::cold);
  EXPECT_LT(packed.used_bytes, full.used_bytes / 2);
  const scope inside;
  for (auto& g : guides_) ASSERT_EQ(g.get(inside)->view(), std::string(1020, 'x'));
}

TEST_P(Collector, WhatIsPromotedOutOfSparseColdStaysHot) {
  for (int i = 0; i < 20'000; ++i) guides_.emplace_back(make_bytes(std::string(1020, 'x')));
  collector_.run_window();
  collector_.run_window();  // all in COLD
  std::vector<guide<bytes>> kept;
  for (std::size_t i = 0; i < guides_.size(); i += 4) kept.push_back(std::move(guides_[i]));
  guides_.clear();  // COLD is sparse: the window compacts it
  guides_ = std::move(kept);
  touch(0, 1);
  const auto statistics = collector_.run_window();
  EXPECT_EQ(statistics.promoted.objects, 1u);
  EXPECT_EQ(statistics.demoted.objects, 0u);
  EXPECT_GT(statistics.compacted.objects, 0u);
  EXPECT_EQ(heap_of(0), kind::hot);
}

INSTANTIATE_TEST_SUITE_P(Protocols, Collector, testing::Values("counts", "veto"),
                         [](const auto& info) { return info.param; });

TEST(CollectorThread, RunsWindowsByItselfAndStops) {
  options chosen;
  chosen.window_seconds = 0.001;
  object_collector collector(chosen);
  std::latch three(3);
  collector.on_window([&three](const window_statistics& statistics) {
    if (statistics.window <= 3) three.count_down();
  });
  ASSERT_TRUE(collector.start());
  EXPECT_TRUE(collector.is_running());
  object_collector second(chosen);
  const auto refused = second.start();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("already runs"), std::string::npos);
  three.wait();
  collector.stop();
  collector.stop();
  EXPECT_FALSE(collector.is_running());
  EXPECT_TRUE(second.start());
}

TEST(CollectorThread, AShorterWindowEndsTheWaitForALongOne) {
  object_collector collector({.window_seconds = 1e9});
  std::latch ran(1);
  collector.on_window([&ran](const window_statistics& seen) {
    if (seen.window == 1) ran.count_down();
  });
  ASSERT_TRUE(collector.start());
  auto chosen = collector.configuration();
  chosen.window_seconds = 0.001;
  ASSERT_TRUE(collector.reconfigure(chosen));
  ran.wait();
  collector.stop();
}

// On two processors a window's work would otherwise hold up who serves.
TEST(CollectorThread, IsPreemptedByWhoWakes) {
  object_collector collector({.window_seconds = 0.001});
  std::latch ran(1);
  collector.on_window([&ran](const window_statistics& seen) {
    if (seen.window == 1) ran.count_down();
  });
  ASSERT_TRUE(collector.start());
  ran.wait();
  const pid_t thread = testing_help::thread_named("iso-collector");
  ASSERT_NE(thread, 0);
  const auto usual_slice = os::read_scheduling(0).runtime_ns;
  const auto slice = os::read_scheduling(thread).runtime_ns;
  EXPECT_TRUE(usual_slice == 0 || slice > usual_slice) << slice << " ns, usual " << usual_slice;
  collector.stop();
}

TEST(CollectorThread, StopsWhileItWaitsForAScope) {
  guide<bytes> moves(make_bytes("moves"));
  options chosen = by_hand("counts");
  chosen.window_seconds = 0.001;
  chosen.epoch_timeout_us = ~std::uint64_t{0};
  object_collector collector(chosen);
  const scope stays_open;
  const std::uint64_t before = sync::facts.global_word.load_acquire();
  ASSERT_TRUE(collector.start());
  while (sync::facts.global_word.load_acquire() == before) std::this_thread::yield();
  collector.stop();
  EXPECT_FALSE(collector.is_running());
}

/// Whom `sits` waits for.
struct {
  std::atomic<pid_t> stopper{0};
  std::atomic<int> freed{0};
} backlog;

/// Takes as long as the collector reclaims at once, and until the stopper waits for it.
void sits(void*) noexcept {
  if (++backlog.freed > 1) return;
  for (const auto end = os::monotonic_ns() + 20'000'000; os::monotonic_ns() < end;) {
  }
  while (backlog.stopper == 0 || testing_help::state_of(backlog.stopper) != 'S') {
    std::this_thread::yield();
  }
}

TEST(CollectorThread, StopsAmidABacklogOfRetiredBlocks) {
  sync::reclaim_ready();
  backlog.freed = backlog.stopper = 0;
  for (int i = 0; i < 10; ++i) sync::retire(&backlog, &sits);
  object_collector collector({.window_seconds = 0.001, .hint = heap::hint::none});
  ASSERT_TRUE(collector.start());
  while (backlog.freed == 0) std::this_thread::yield();
  backlog.stopper = gettid();
  collector.stop();
  EXPECT_EQ(backlog.freed, 1);
  EXPECT_EQ(collector.last_window().page_out_seconds, 0.0) << "nor does it return memory";
  sync::reclaim_ready();
  EXPECT_EQ(backlog.freed, 10);
}

TEST(CollectorThread, StartsBesideAChangeOfOptions) {
  object_collector collector({.window_seconds = 1e9});
  std::jthread setter([&](const std::stop_token& is_over) {
    while (!is_over.stop_requested()) {
      EXPECT_TRUE(collector.reconfigure(
          {.window_seconds = 1e9, .policy = policy_name::published, .protocol = "counts"}));
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(collector.start());
    collector.stop();
  }
}

// A program that gives up the target, or the thread that holds it, is refused nothing any more.
TEST(CollectorThread, WithoutATargetGrowthIsNoLongerRefused) {
  options chosen;
  chosen.hint = heap::hint::pageout;
  chosen.memory_target_bytes = 1;
  object_collector collector(chosen);
  collector.run_window();
  EXPECT_FALSE(collector.refuses_growth()) << "no thread could end that";
  const auto becomes = [&](bool refused) {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (collector.refuses_growth() != refused) {
      if (std::chrono::steady_clock::now() > patience) return false;
      std::this_thread::yield();
    }
    return true;
  };
  ASSERT_TRUE(collector.start());
  EXPECT_TRUE(becomes(true));
  options without = chosen;
  without.memory_target_bytes = 0;
  without.policy = policy_name::published;
  ASSERT_TRUE(collector.reconfigure(without));
  EXPECT_TRUE(becomes(false));
  ASSERT_TRUE(collector.reconfigure(chosen));
  EXPECT_TRUE(becomes(true));
  collector.stop();
  EXPECT_FALSE(collector.refuses_growth());
}

TEST(CollectorThread, ACallbackThatThrowsEndsNothingAndIsTold) {
  object_collector collector({.window_seconds = 0.001});
  std::latch three(3);
  collector.on_window([&three](const window_statistics& seen) {
    if (seen.window <= 3) three.count_down();
    throw std::runtime_error("of the callback");
  });
  EXPECT_NE(collector.run_window().callback_problem.find("of the callback"), std::string::npos);
  ASSERT_TRUE(collector.start());
  three.wait();
  collector.stop();
  EXPECT_NE(collector.last_window().callback_problem.find("of the callback"), std::string::npos);
}

TEST(CollectorThread, TakesNoSignalsOfTheApplication) {
  object_collector collector({.window_seconds = 0.001});
  std::latch seen(1);
  sigset_t blocked;
  collector.on_window([&](const window_statistics& window) {
    if (window.window != 1) return;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    seen.count_down();
  });
  ASSERT_TRUE(collector.start());
  seen.wait();
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD}) {
    EXPECT_TRUE(sigismember(&blocked, signal)) << signal;
  }
  for (const int signal : {SIGSEGV, SIGBUS}) EXPECT_FALSE(sigismember(&blocked, signal)) << signal;
  sigset_t mine;
  pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_FALSE(sigismember(&mine, SIGTERM));
}

TEST(CollectorOptions, NonsenseIsRefused) {
  const auto refused = [](auto change) {
    options chosen;
    change(chosen);
    return !object_collector(chosen).start();
  };
  EXPECT_TRUE(refused([](options& o) { o.window_seconds = 0; }));
  EXPECT_TRUE(refused([](options& o) { o.window_seconds = -1; }));
  EXPECT_TRUE(refused([](options& o) { o.cold_threshold = 0; }));
  EXPECT_TRUE(refused([](options& o) { o.cold_threshold = 32; }));
  EXPECT_TRUE(refused([](options& o) { o.batch_bytes = 0; }));
  EXPECT_TRUE(refused([](options& o) { o.protocol = "hope"; }));
}

TEST(CollectorOptions, ATargetThatNobodyWouldHoldIsRefused) {
  options chosen;
  chosen.memory_target_bytes = 1 << 30;
  chosen.hint = heap::hint::none;
  object_collector collector({});
  EXPECT_FALSE(collector.reconfigure(chosen)) << "nothing asks pages to leave";
  chosen.hint = heap::hint::pageout;
  EXPECT_TRUE(collector.reconfigure(chosen));
  chosen.policy = policy_name::published;
  EXPECT_FALSE(collector.reconfigure(chosen));
}

TEST(CollectorOptions, WindowsThatNoClockHoldsAreRefused) {
  for (const double seconds : {0.0, -1.0, 2e9, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
    options chosen;
    chosen.window_seconds = seconds;
    EXPECT_FALSE(object_collector(chosen).start()) << seconds;
    object_collector collector({});
    EXPECT_FALSE(collector.reconfigure(chosen)) << seconds;
  }
}

// The histories in words mean something else to the other policy.
TEST(CollectorOptions, AnotherPolicyBeginsWithoutHistories) {
  guide<bytes> g(make_bytes("value"));
  const auto history = [&] { return guides::history_of(g.slot().load_relaxed()); };
  options chosen;
  chosen.manage = mode::track;
  object_collector collector(chosen);
  for (int window = 0; window < 2; ++window) {  // in the first it was made, which is no use
    {
      const scope inside;
      g.get(inside);
    }
    collector.run_window();
  }
  EXPECT_GT(history(), guides::kInactiveCeiling) << "a rate";
  chosen.policy = policy_name::published;
  for (const std::string_view protocol : {"counts", "veto"}) {
    chosen.protocol = protocol;
    ASSERT_TRUE(collector.reconfigure(chosen));
    collector.run_window();
    EXPECT_EQ(guides::count_of(g.slot().load_relaxed()), 0u);
    EXPECT_LE(guides::inactive_of(g.slot().load_relaxed()), 2u);
    EXPECT_EQ(guides::are_counted(), protocol == "counts");
  }
}

TEST(CollectorOptions, AThresholdSetBesideRunningWindowsIsTheNextOnes) {
  options chosen;
  chosen.policy = policy_name::published;
  chosen.adaptive_threshold = false;
  object_collector collector(chosen);
  std::thread setter([&] {
    for (unsigned threshold = 1; threshold <= 31; ++threshold) {
      chosen.cold_threshold = threshold;
      ASSERT_TRUE(collector.reconfigure(chosen));
    }
  });
  for (int i = 0; i < 50; ++i) collector.run_window();
  setter.join();
  EXPECT_EQ(collector.run_window().cold_threshold, 31u);
}

}  // namespace
}  // namespace isotherm::collector
