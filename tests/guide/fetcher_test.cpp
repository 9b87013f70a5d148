// Objects that have left DRAM, for programs that do not wait for them.
#include "guide/fetcher.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <coroutine>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "guide/fetched_objects.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/upkeep.hpp"
#include "os/faults.hpp"

namespace isotherm {
namespace {

using heap::kind;

bool can_be_read(int descriptor) {
  pollfd asked{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&asked, 1, 0) == 1;
}

class Fetcher : public testing_help::FetchedObjects {
 protected:
  static std::optional<heap::miss> miss_of(const guide<bytes>& g) {
    const scope inside;
    auto found = g.try_get(inside);
    if (found) return std::nullopt;
    return std::move(found.error());
  }
  /// The content, now; nullopt: there is none, or it is out.
  static std::optional<std::string> try_content(const guide<bytes>& g) {
    const scope inside;
    const auto found = g.try_get(inside);
    if (!found || *found == nullptr) return std::nullopt;
    return std::string((*found)->view());
  }
  static void run_all(fetcher& of) {
    while (of.waiting() > 0) of.run_within(-1);
  }

  fetcher fetcher_ = std::move(*fetcher::make());
};

TEST_F(Fetcher, TryGetGivesWhatIsInDram) {
  const guide<bytes> empty, born(make_bytes("new"));
  EXPECT_EQ(try_content(born), "new");
  const scope inside;
  const auto nothing = empty.try_get(inside);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(*nothing, nullptr);
  guides_[3].get(inside);
  const auto came_back = guides_[3].try_get(inside);
  ASSERT_TRUE(came_back);
  EXPECT_EQ(*came_back, address(guides_[3]));
}

TEST_F(Fetcher, TryGetTellsWhatIsMissingAndDoesNotWait) {
  const auto missed = miss_of(guides_[3]);
  ASSERT_TRUE(missed);
  EXPECT_EQ(missed->where(), heap::heaps().cold().place_of(address(guides_[3])));
  EXPECT_TRUE(heap::is_out(address(guides_[3])));
  const scope inside;
  EXPECT_EQ(guides_[3].get(inside)->view(), content(3)) << "get() waits as ever";
}

/// Objects come back that need an extent of HOT each, while no thread may take memory.
class FetcherNearTheTarget : public Fetcher {
 protected:
  ~FetcherNearTheTarget() override { heap::allow_growth(heap::kUnlimitedGrowth); }
  std::uint64_t slowed_while_objects_come_back() {
    const std::string large(600'000, 'x');
    std::vector<guide<bytes>> several;
    for (int i = 0; i < 3; ++i) several.emplace_back(testing_help::bytes_in_cold(large));
    let_leave();
    heap::allow_growth(0);
    const std::uint64_t slowed = heap::slowed_allocations();
    for (const auto& each : several) {
      fetcher_.fetch(*miss_of(each), [&] {
        EXPECT_EQ(try_content(each), large);
        EXPECT_EQ(heap_of(each), kind::hot);
      });
    }
    run_all(fetcher_);
    return heap::slowed_allocations() - slowed;
  }
};

TEST_F(FetcherNearTheTarget, WaitsForRoomForWhatThePolicyDoesNotAdmit) {
  ask_policy(std::nullopt);
  EXPECT_GT(slowed_while_objects_come_back(), 0u);
}

TEST_F(FetcherNearTheTarget, DoesNotWaitForWhatItAdmits) {
  ask_policy(1);
  EXPECT_EQ(slowed_while_objects_come_back(), 0u);
}

TEST_F(Fetcher, CallsWhenTheObjectHasArrived) {
  int calls = 0;
  EXPECT_EQ(fetcher_.run(), 0u);
  fetcher_.fetch(*miss_of(guides_[3]), [&] {
    ++calls;
    EXPECT_FALSE(scope::is_open());
    EXPECT_EQ(try_content(guides_[3]), content(3));
    EXPECT_EQ(heap_of(guides_[3]), kind::hot);
  });
  EXPECT_EQ(fetcher_.waiting(), 1u);
  EXPECT_EQ(calls, 0);
  std::size_t called = 0;
  while (called == 0) called = fetcher_.run_within(-1);
  EXPECT_EQ(called, 1u);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(fetcher_.waiting(), 0u);
  EXPECT_EQ(fetcher_.run(), 0u);
  EXPECT_EQ(try_content(guides_[3]), content(3));
}

// The disk has not answered for the thread of the fetcher: another thread reads for itself.
TEST_F(Fetcher, NoOtherThreadIsGivenAReadThatIsHandedOver) {
  os::set_fault_hook([](os::io_call call) { return call == os::io_call::read ? ETIME : 0; });
  fetcher_.fetch(*miss_of(guides_[3]), [&] {
    EXPECT_TRUE(heap::handed_over::is_any());
    access silent;
    EXPECT_EQ(guides_[3].get(silent), nullptr);
    EXPECT_EQ(silent.result(), access::outcome::disk_silent);
    os::set_fault_hook({});
    std::thread other([&] {
      EXPECT_FALSE(heap::handed_over::is_any());
      EXPECT_TRUE(miss_of(guides_[3]));
      const scope inside;
      EXPECT_EQ(guides_[3].get(inside)->view(), content(3));
    });
    other.join();
  });
  run_all(fetcher_);
  EXPECT_FALSE(heap::handed_over::is_any());
}

TEST_F(Fetcher, GetFindsItAsWell) {
  fetcher_.fetch(*miss_of(guides_[3]), [&] {
    const scope inside;
    EXPECT_EQ(guides_[3].get(inside)->view(), content(3));
  });
  run_all(fetcher_);
  EXPECT_EQ(heap_of(guides_[3]), kind::hot);
}

TEST_F(Fetcher, WhatElseIsMissingWhenItCallsIsWaitedForByGetAlone) {
  fetcher_.fetch(*miss_of(guides_[3]), [&] {
    EXPECT_TRUE(miss_of(guides_[60]));
    const scope inside;
    EXPECT_EQ(guides_[60].get(inside)->view(), content(60));
    EXPECT_EQ(guides_[3].get(inside)->view(), content(3));
  });
  run_all(fetcher_);
  EXPECT_EQ(heap_of(guides_[60]), kind::hot);
}

TEST_F(Fetcher, AMissIsOfTheGuideThatWasAskedFor) {
  const guide<bytes> empty;
  access outer(access::when_cold::record);
  EXPECT_EQ(guides_[3].get(outer), nullptr);
  const auto found = empty.try_get(outer.scope());
  EXPECT_TRUE(found && *found == nullptr);
  const auto other = guides_[60].try_get(outer.scope());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().where(), heap::heaps().cold().place_of(address(guides_[60])));
  EXPECT_EQ(outer.take_misses().size(), 1u) << "the first one";
}

TEST_F(Fetcher, TheDescriptorTellsThatThereIsSomethingToRun) {
  EXPECT_FALSE(can_be_read(fetcher_.descriptor()));
  fetcher_.fetch(*miss_of(guides_[3]), [] {});
  pollfd asked{.fd = fetcher_.descriptor(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&asked, 1, -1), 1);
  EXPECT_EQ(fetcher_.run(), 1u);
  EXPECT_FALSE(can_be_read(fetcher_.descriptor()));
}

TEST_F(Fetcher, WhatWasCancelledIsNotCalled) {
  int calls = 0;
  std::vector<fetcher::ticket> tickets;
  for (std::size_t i = 0; i < kCount; i += 10) {
    tickets.push_back(fetcher_.fetch(*miss_of(guides_[i]), [&] { ++calls; }));
  }
  fetcher_.cancel(tickets[2]);
  fetcher_.cancel(tickets[7]);
  fetcher_.cancel(tickets[7]);
  EXPECT_EQ(fetcher_.waiting(), tickets.size() - 2);
  run_all(fetcher_);
  EXPECT_EQ(calls, static_cast<int>(tickets.size()) - 2);
  fetcher_.cancel(tickets[0]);  // it is over
}

TEST_F(Fetcher, OneThatIsCalledMayCancelTheOthers) {
  int calls = 0;
  std::vector<fetcher::ticket> tickets;
  for (std::size_t i = 0; i < kCount; i += 10) {
    tickets.push_back(fetcher_.fetch(*miss_of(guides_[i]), [&] {
      ++calls;
      for (const auto each : tickets) fetcher_.cancel(each);
    }));
  }
  run_all(fetcher_);
  EXPECT_EQ(calls, 1);
}

TEST_F(Fetcher, OneThatIsCalledMayFetchMore) {
  std::vector<std::size_t> order;
  std::function<void(std::size_t)> use_from = [&](std::size_t i) {
    for (; i < kCount; i += 30) {
      auto missed = miss_of(guides_[i]);
      if (missed) {
        fetcher_.fetch(std::move(*missed), [&use_from, i] { use_from(i); });
        return;
      }
      order.push_back(i);
    }
  };
  use_from(0);
  EXPECT_TRUE(order.empty());
  run_all(fetcher_);
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 30, 60, 90}));
}

/// A coroutine that runs until it waits for the first time, and owns itself.
struct detached {
  struct promise_type {
    static detached get_return_object() { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() {}
    static void unhandled_exception() { std::terminate(); }
  };
};

detached add_content(fetcher& by, const guide<bytes>& g, std::string& to) {
  for (;;) {
    std::optional<heap::miss> missed;
    {
      const scope inside;
      auto found = g.try_get(inside);
      if (found) {
        to += (*found)->view();
        co_return;
      }
      missed.emplace(std::move(found.error()));
    }
    co_await by.fetch(std::move(*missed));
  }
}

detached add_all(fetcher& by, const std::vector<guide<bytes>>& from, std::string& to) {
  for (const auto& g : from) {
    std::optional<heap::miss> missed;
    do {
      if (missed) co_await by.fetch(std::move(*missed));
      missed.reset();
      const scope inside;
      auto found = g.try_get(inside);
      if (found) {
        to += (*found)->view();
      } else {
        missed.emplace(std::move(found.error()));
      }
    } while (missed);
  }
}

TEST_F(Fetcher, ACoroutineIsResumed) {
  std::string one, other;
  add_content(fetcher_, guides_[3], one);
  add_content(fetcher_, guides_[70], other);
  EXPECT_EQ(one, "");
  EXPECT_EQ(fetcher_.waiting(), 2u);
  run_all(fetcher_);
  EXPECT_EQ(one, content(3));
  EXPECT_EQ(other, content(70));
}

TEST_F(Fetcher, ACoroutineMayWaitAgainAndAgain) {
  std::string all, expected;
  add_all(fetcher_, guides_, all);
  run_all(fetcher_);
  for (std::size_t i = 0; i < kCount; ++i) expected += content(i);
  EXPECT_EQ(all, expected);
}

/// A coroutine whose owner may destroy it while it waits.
struct owned_coroutine {
  struct promise_type {
    owned_coroutine get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() {}
    static void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

owned_coroutine wait_for(fetcher& by, heap::miss missed, int& resumed) {
  co_await by.fetch(std::move(missed));
  ++resumed;
}

TEST_F(Fetcher, ACoroutineThatIsDestroyedWhileItWaitsIsNotResumed) {
  int resumed = 0;
  const owned_coroutine kept = wait_for(fetcher_, *miss_of(guides_[3]), resumed);
  wait_for(fetcher_, *miss_of(guides_[70]), resumed).handle.destroy();
  EXPECT_EQ(fetcher_.waiting(), 1u);
  run_all(fetcher_);
  EXPECT_EQ(resumed, 1);
  kept.handle.destroy();
}

TEST_F(Fetcher, WhatOneThrowsIsPassedOnAndTheOthersAreCalledNext) {
  int calls = 0;
  for (const std::size_t i : {3, 60}) {
    fetcher_.fetch(*miss_of(guides_[i]), [&calls] {
      if (++calls == 1) throw std::runtime_error("the first");
    });
  }
  bool has_thrown = false;
  while (fetcher_.waiting() > 0) {
    try {
      fetcher_.run_within(10);
    } catch (const std::runtime_error&) {
      has_thrown = true;
    }
  }
  EXPECT_TRUE(has_thrown);
  EXPECT_EQ(calls, 2);
}

TEST_F(Fetcher, TwoOfThemReadOnce) {
  const std::uint64_t reads = heap::cold_reads().reads;
  fetcher other = std::move(*fetcher::make());
  int calls = 0;
  auto one = miss_of(guides_[3]), two = miss_of(guides_[3]);
  // Nobody looks at ends in between.
  fetcher_.fetch(std::move(*one), [&] {
    ++calls;
    EXPECT_EQ(try_content(guides_[3]), content(3));
  });
  other.fetch(std::move(*two), [&] {
    ++calls;
    EXPECT_EQ(try_content(guides_[3]), content(3));
  });
  run_all(fetcher_);
  run_all(other);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(heap::cold_reads().reads - reads, 1u);
}

TEST_F(Fetcher, OneThatDoesNotRunHoldsNoOtherUp) {
  fetcher other = std::move(*fetcher::make());
  bool is_called = false, is_called_too = false;
  other.fetch(*miss_of(guides_[3]), [&] { is_called_too = true; });
  fetcher_.fetch(*miss_of(guides_[3]), [&] {
    is_called = true;
    EXPECT_EQ(try_content(guides_[3]), content(3));
    EXPECT_EQ(heap_of(guides_[3]), kind::hot);
  });
  while (!is_called) fetcher_.run_within(10);
  EXPECT_FALSE(is_called_too);
  run_all(other);
  EXPECT_TRUE(is_called_too);
}

TEST_F(Fetcher, TwoThreadsFetchTheSameObjects) {
  const auto read_all = [this] {
    fetcher mine = std::move(*fetcher::make());
    std::string all, expected;
    add_all(mine, guides_, all);
    run_all(mine);
    for (std::size_t i = 0; i < kCount; ++i) expected += content(i);
    EXPECT_EQ(all, expected);
  };
  std::thread other(read_all);
  read_all();
  other.join();
}

TEST_F(Fetcher, WhatWaitsWhenItGoesIsNotCalled) {
  int calls = 0;
  {
    fetcher going = std::move(*fetcher::make());
    for (std::size_t i = 0; i < kCount; i += 10) {
      going.fetch(*miss_of(guides_[i]), [&] { ++calls; });
    }
    fetcher moved = std::move(going);
    EXPECT_EQ(moved.waiting(), kCount / 10);
  }
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(heap::cold_reads().under_way, 0u);
}

TEST_F(Fetcher, TheGuideMayHaveChangedMeanwhile) {
  int calls = 0;
  fetcher_.fetch(*miss_of(guides_[3]), [&] {
    ++calls;
    EXPECT_EQ(try_content(guides_[3]), "another");
  });
  fetcher_.fetch(*miss_of(guides_[50]), [&] {
    ++calls;
    const scope inside;
    const auto found = guides_[50].try_get(inside);
    EXPECT_TRUE(found && *found == nullptr);
  });
  {
    const scope inside;
    ASSERT_TRUE(guides_[3].replace(inside, make_bytes("another")));
    guides_[50].clear(inside);
  }
  sync::reclaim_ready();
  run_all(fetcher_);
  EXPECT_EQ(calls, 2);
}

TEST_F(Fetcher, WhatTheDiskDoesNotGiveIsNullAndIsTold) {
  ASSERT_TRUE(testing_help::truncate_cold(testing_help::cold_in_a_file(), 0));
  int calls = 0;
  const std::uint64_t lost = heap::lost_reads();
  fetcher_.fetch(*miss_of(guides_[3]), [&] {
    ++calls;
    access inside;
    const auto found = guides_[3].try_get(inside.scope());
    ASSERT_TRUE(found) << "it would be fetched for ever";
    EXPECT_EQ(*found, nullptr);
    EXPECT_EQ(guides_[3].get(inside), nullptr);
    EXPECT_EQ(inside.result(), access::outcome::unreadable);
  });
  run_all(fetcher_);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(heap::lost_reads(), lost + 2);
}

}  // namespace
}  // namespace isotherm
