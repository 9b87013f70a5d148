#include "lab/workload/driver.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "lab/workload/inserted.hpp"
#include "os/faults.hpp"

namespace isotherm::workload {
namespace {

/// A store that remembers which records it has, and can fail or stall.
class fake_store final : public target {
 public:
  struct mine final : session {
    explicit mine(fake_store& owner) : store(owner) {}
    base::result<answer> read(std::uint64_t number) override {
      const int turn = store.reads.fetch_add(1);
      if (store.fail_at >= 0 && turn >= store.fail_at) {
        return std::unexpected(base::error{"the store is gone"});
      }
      // The stall is the input: a store that answers late. Nothing waits for it to be over.
      if (turn == store.stall_at) std::this_thread::sleep_for(store.stall);
      const std::lock_guard lock(store.mutex);
      store.greatest_age = std::max(store.greatest_age, store.records.size() - 1 - number);
      if (store.corrupt.contains(number)) return answer::corrupt;
      return store.records.contains(number) ? answer::done : answer::missing;
    }
    base::result<answer> update(std::uint64_t number) override {
      ++store.updates;
      const std::lock_guard lock(store.mutex);
      return store.records.contains(number) ? answer::done : answer::missing;
    }
    base::result<answer> insert(std::uint64_t number) override {
      const std::lock_guard lock(store.mutex);
      return store.records.insert(number).second ? answer::done : answer::corrupt;
    }
    base::result<answer> remove(std::uint64_t number) override {
      const std::lock_guard lock(store.mutex);
      return store.records.erase(number) > 0 ? answer::done : answer::missing;
    }
    base::result<answer> read_all(std::span<const std::uint64_t> numbers) override {
      ++store.multigets;
      return session::read_all(numbers);
    }
    base::result<answer> scan(std::uint64_t, unsigned, touched_keys&) override {
      return answer::done;
    }
    base::result<void> load(std::uint64_t first, std::uint64_t last) override {
      const std::lock_guard lock(store.mutex);
      for (; first < last; ++first) store.records.insert(first);
      return {};
    }
    fake_store& store;
  };

  base::result<std::unique_ptr<session>> connect() override {
    return std::make_unique<mine>(*this);
  }
  bool can_scan() const noexcept override { return scans; }
  place runs_in() const noexcept override { return place::caller; }

  std::mutex mutex;
  std::set<std::uint64_t> records;  // under mutex
  std::set<std::uint64_t> corrupt;
  std::uint64_t greatest_age = 0;  // of what was read; under mutex
  std::atomic<int> reads{0};
  std::atomic<int> updates{0};
  std::atomic<int> multigets{0};
  int fail_at = -1;
  int stall_at = -1;
  std::chrono::milliseconds stall{0};
  bool scans = false;
};

bool go_on(const progress&) { return true; }
/// Ends a run by what it has done: by time it may end before a thread has got a processor.
bool until_some(const progress& now) { return now.operations < 10'000; }

base::result<outcome> run(target& store, const plan& chosen, touched_keys& used,
                          const watcher& watch) {
  meters counts(chosen.threads);
  return run(store, chosen, counts, used, watch);
}

plan small_plan(const std::string& letter) {
  plan chosen;
  chosen.workload = *parse_workload(letter);
  chosen.keys_by.which = chosen.workload.keys;
  chosen.keys = 10'000;
  chosen.seconds = 3600;  // ended by a watcher
  return chosen;
}

TEST(Driver, LoadsEveryRecordOnce) {
  fake_store store;
  plan chosen = small_plan("c");
  chosen.keys = 10'001;
  ASSERT_TRUE(load(store, chosen, go_on));
  EXPECT_EQ(store.records.size(), 10'001u);
  EXPECT_EQ(*store.records.rbegin(), 10'000u);
}

TEST(Driver, ASystemThatGivesNoThreadIsAnError) {
  fake_store store;
  os::set_thread_fault(EAGAIN);
  const auto loaded = load(store, small_plan("c"), go_on);
  touched_keys used(10'000);
  const auto ran = run(store, small_plan("c"), used, go_on);
  os::set_thread_fault(0);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, EAGAIN);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, EAGAIN);
}

TEST(Driver, CountsWhatItDid) {
  fake_store store;
  const plan chosen = small_plan("f");
  ASSERT_TRUE(load(store, chosen, go_on));
  touched_keys used(chosen.keys);
  const auto found = run(store, chosen, used, until_some);
  ASSERT_TRUE(found);
  EXPECT_GT(found->sums.operations(), 0u);
  const auto& kinds = found->sums.by_kind;
  EXPECT_EQ(kinds[0] + kinds[4], found->sums.operations()) << "reads and read-modify-writes only";
  EXPECT_EQ(found->sums.latency_ns.count(), found->sums.operations());
  EXPECT_EQ(found->sums.missing, 0u);
  EXPECT_EQ(found->sums.corrupt, 0u);
  EXPECT_GT(used.advance()[0], 0u);
}

TEST(Driver, AReadModifyWriteIsAReadAndThenAWrite) {
  fake_store store;
  plan chosen = small_plan("f");
  chosen.workload.shares = *parse_mix("modify=100");
  ASSERT_TRUE(load(store, chosen, go_on));
  touched_keys used(chosen.keys);
  const auto found = run(store, chosen, used, until_some);
  ASSERT_TRUE(found);
  EXPECT_GT(store.reads, 0);
  EXPECT_EQ(store.reads, store.updates);
}

TEST(Driver, DeletesRecordsAndReadsManyAtOnce) {
  fake_store store;
  plan chosen = small_plan("c");
  chosen.workload.shares = *parse_mix("delete=50,multiget=50");
  ASSERT_TRUE(load(store, chosen, go_on));
  touched_keys used(chosen.keys);
  const auto found = run(store, chosen, used, until_some);
  ASSERT_TRUE(found);
  EXPECT_LT(store.records.size(), chosen.keys);
  EXPECT_GT(found->sums.missing, 0u) << "of deleted records";
  EXPECT_GT(store.multigets, 0);
  EXPECT_EQ(store.reads, store.multigets * static_cast<int>(kMultiget));
}

TEST(Driver, ReadsOfTheLatestNeverMissAnInsertUnderWay) {
  fake_store store;
  plan chosen = small_plan("d");
  chosen.threads = 4;
  ASSERT_TRUE(load(store, chosen, go_on));
  touched_keys used(chosen.keys);
  const auto found = run(store, chosen, used, until_some);
  ASSERT_TRUE(found);
  EXPECT_GT(store.records.size(), chosen.keys) << "inserts happened";
  EXPECT_EQ(found->sums.missing, 0u);
  EXPECT_EQ(found->sums.corrupt, 0u) << "a number was inserted twice";
}

TEST(Driver, TheLatestAreDrawnAmongAllRecordsThatAreThere) {
  fake_store store;
  plan chosen = small_plan("d");
  chosen.keys = 10;
  chosen.keys_by.theta = 0.2;
  chosen.threads = 1;
  ASSERT_TRUE(load(store, chosen, go_on));
  touched_keys used(chosen.keys);
  const auto found = run(store, chosen, used, until_some);
  ASSERT_TRUE(found);
  EXPECT_GT(store.greatest_age, 100u);
}

TEST(Driver, WhatWasSentBeforeTheMeasuredTimeIsNotCounted) {
  fake_store store;
  plan chosen = small_plan("c");
  chosen.rate = 2;  // due at 0 s and 0.5 s, in the warm-up, and at 1 s, when the run is over
  chosen.warmup_seconds = 0.7;
  chosen.seconds = 0.1;
  ASSERT_TRUE(load(store, chosen, go_on));
  touched_keys used(chosen.keys);
  int sent_in_warmup = 0;
  const auto found = run(store, chosen, used, [&](const progress& now) {
    if (now.is_warmup) sent_in_warmup = store.reads;
    return true;
  });
  ASSERT_TRUE(found);
  // However late a thread wakes up: what was sent by the last look at the warm-up is in no count.
  EXPECT_LE(found->sums.operations(), static_cast<std::uint64_t>(store.reads - sent_in_warmup));
  EXPECT_EQ(found->sums.latency_ns.count(), found->sums.operations());
}

TEST(Driver, SeesMissingAndCorruptRecords) {
  fake_store store;
  plan chosen = small_plan("c");
  ASSERT_TRUE(load(store, chosen, go_on));
  for (std::uint64_t i = 0; i < chosen.keys; i += 2) store.records.erase(i);
  for (std::uint64_t i = 1; i < chosen.keys; i += 4) store.corrupt.insert(i);
  touched_keys used(chosen.keys);
  const auto found = run(store, chosen, used, until_some);
  ASSERT_TRUE(found);
  EXPECT_GT(found->sums.missing, 0u);
  EXPECT_GT(found->sums.corrupt, 0u);
}

TEST(Driver, AFailureEndsTheRunWithItsReason) {
  fake_store store;
  plan chosen = small_plan("c");
  store.fail_at = 100;
  touched_keys used(chosen.keys);
  const auto found = run(store, chosen, used, go_on);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "the store is gone");
}

TEST(Driver, TheWatcherCanEndTheRun) {
  fake_store store;
  plan chosen = small_plan("c");
  touched_keys used(chosen.keys);
  int calls = 0;
  EXPECT_TRUE(run(store, chosen, used, [&](const progress&) { return ++calls < 3; }));
  EXPECT_EQ(calls, 3);
}

TEST(Driver, AStallIsChargedToEveryRequestThatItDelayed) {
  // One thread, 1000 requests a second, one stall of 300 ms: in a closed loop one request would
  // show it; the intended start times show it to the three hundred that were due meanwhile.
  fake_store store;
  plan chosen = small_plan("c");
  chosen.threads = 1;
  chosen.rate = 1000;
  store.stall_at = 100;
  store.stall = std::chrono::milliseconds(300);
  touched_keys used(chosen.keys);
  const auto found =
      run(store, chosen, used, [](const progress& now) { return now.operations < 600; });
  ASSERT_TRUE(found);
  EXPECT_GE(found->sums.latency_ns.largest(), 300'000'000u);
  // The requests that were due in the first half of the stall waited 150 ms and more.
  const double share = 140.0 / static_cast<double>(found->sums.operations());
  EXPECT_GE(found->sums.latency_ns.quantile(1 - share), 140'000'000u);
}

TEST(Driver, ARateIsNotExceeded) {
  fake_store store;
  plan chosen = small_plan("c");
  chosen.rate = 500;
  chosen.seconds = 0.5;
  touched_keys used(chosen.keys);
  const auto began = std::chrono::steady_clock::now();
  const auto found = run(store, chosen, used, go_on);
  ASSERT_TRUE(found);
  // No request is sent before it is due; each thread's first is due at once.
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - began;
  EXPECT_LE(static_cast<double>(found->sums.operations()),
            chosen.rate * whole.count() + chosen.threads);
}

TEST(Driver, RefusesScansWhereThereAreNone) {
  fake_store store;
  const plan chosen = small_plan("e");
  touched_keys used(chosen.keys);
  EXPECT_FALSE(run(store, chosen, used, until_some));
  store.scans = true;
  EXPECT_TRUE(run(store, chosen, used, until_some));
}

/// A page of a file on a disk; leave() takes it out of DRAM, so that the next touch waits for it.
class page_on_disk {
 public:
  page_on_disk() {
    std::string path = "/var/tmp/isotherm-test-XXXXXX";
    file_ = mkstemp(path.data());
    unlink(path.c_str());
    EXPECT_EQ(ftruncate(file_, kBytes), 0);
    page_ = static_cast<volatile char*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
    page_[0] = 1;
    EXPECT_EQ(fsync(file_), 0);
  }
  ~page_on_disk() {
    munmap(const_cast<char*>(page_), kBytes);
    close(file_);
  }
  void leave() {
    madvise(const_cast<char*>(page_), kBytes, MADV_DONTNEED);
    posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
  }
  char touch() const { return page_[0]; }

 private:
  static constexpr std::size_t kBytes = 4096;
  int file_ = -1;
  volatile char* page_ = nullptr;
};

/// A store in which some reads wait for a page.
class paging_store final : public target {
 public:
  struct mine final : session {
    explicit mine(paging_store& owner) : store(owner) {}
    base::result<answer> read(std::uint64_t number) override {
      if (number % 4 == 0) {
        const std::lock_guard lock(store.mutex);
        store.page.leave();
        store.page.touch();
        ++store.touches;
      }
      return answer::done;
    }
    base::result<answer> update(std::uint64_t) override { return answer::done; }
    base::result<answer> insert(std::uint64_t) override { return answer::done; }
    base::result<answer> scan(std::uint64_t, unsigned, touched_keys&) override {
      return answer::done;
    }
    base::result<void> load(std::uint64_t, std::uint64_t) override { return {}; }
    paging_store& store;
  };
  base::result<std::unique_ptr<session>> connect() override {
    return std::make_unique<mine>(*this);
  }
  bool can_scan() const noexcept override { return false; }
  place runs_in() const noexcept override { return where; }

  place where = place::caller;
  std::mutex mutex;
  page_on_disk page;
  std::uint64_t touches = 0;  // under mutex
};

TEST(Driver, CountsTheRequestsThatWaitForAPage) {
  paging_store store;
  plan chosen = small_plan("c");
  touched_keys used(chosen.keys);
  const auto found = run(store, chosen, used, until_some);
  ASSERT_TRUE(found);
  // A thread's work before the measured time began is left out.
  const std::vector<std::uint64_t>& each = found->done_before;
  const std::uint64_t before = std::accumulate(each.begin(), each.end(), std::uint64_t{0});
  EXPECT_LE(found->sums.waited, store.touches);
  EXPECT_GE(found->sums.waited + before, store.touches);
  EXPECT_GE(found->sums.misses, found->sums.waited);
  store.where = target::place::elsewhere;
  const auto remote = run(store, chosen, used, until_some);
  ASSERT_TRUE(remote);
  EXPECT_EQ(remote->sums.waited, 0u);
}

/// A store that reads the two objects of some records from a disk.
class reading_store final : public target {
 public:
  struct mine final : session {
    explicit mine(reading_store& owner) : store(owner) {}
    base::result<answer> read(std::uint64_t number) override {
      if (number % 4 != 0) return answer::done;
      objects += 2;
      ++store.read_records;
      // No disk takes less: the driver asks only for what took as long.
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
      while (std::chrono::steady_clock::now() < end) {
      }
      return answer::done;
    }
    base::result<answer> update(std::uint64_t) override { return answer::done; }
    base::result<answer> insert(std::uint64_t) override { return answer::done; }
    base::result<answer> scan(std::uint64_t, unsigned, touched_keys&) override {
      return answer::done;
    }
    base::result<void> load(std::uint64_t, std::uint64_t) override { return {}; }
    std::uint64_t objects_read() const noexcept override { return objects; }
    reading_store& store;
    std::uint64_t objects = 100;  // before the run
  };
  base::result<std::unique_ptr<session>> connect() override {
    return std::make_unique<mine>(*this);
  }
  bool can_scan() const noexcept override { return false; }
  place runs_in() const noexcept override { return where; }

  place where = place::caller;
  std::atomic<std::uint64_t> read_records{0};
};

TEST(Driver, CountsTheRequestsThatWaitForObjects) {
  reading_store store;
  plan chosen = small_plan("c");
  touched_keys used(chosen.keys);
  const auto found = run(store, chosen, used, until_some);
  ASSERT_TRUE(found);
  const std::vector<std::uint64_t>& each = found->done_before;
  const std::uint64_t before = std::accumulate(each.begin(), each.end(), std::uint64_t{0});
  EXPECT_GT(found->sums.waited, 0u);
  EXPECT_LT(found->sums.waited, found->sums.operations());
  EXPECT_LE(found->sums.waited, store.read_records);
  EXPECT_GE(found->sums.waited + before, store.read_records);
  EXPECT_GE(found->sums.misses, 2 * found->sums.waited);
  EXPECT_LE(found->sums.misses, 2 * store.read_records);
  store.where = target::place::elsewhere;
  const auto remote = run(store, chosen, used, until_some);
  ASSERT_TRUE(remote);
  EXPECT_EQ(remote->sums.misses, 0u);
}

TEST(Driver, WhatIsWrongInTheWarmUpIsCounted) {
  fake_store store;  // empty
  plan chosen = small_plan("c");
  chosen.warmup_seconds = 3600;
  touched_keys used(chosen.keys);
  const auto found =
      run(store, chosen, used, [](const progress& now) { return now.operations == 0; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sums.operations(), 0u);
  EXPECT_GT(found->sums.missing, 0u);
}

TEST(InsertedKeys, CompleteStaysBelowWhatIsUnderWay) {
  inserted_keys keys(10, 2);
  EXPECT_EQ(keys.complete(), 10u);
  EXPECT_EQ(keys.begin(0), 10u);
  EXPECT_EQ(keys.begin(1), 11u);
  EXPECT_EQ(keys.complete(), 10u);
  keys.end(1);
  EXPECT_EQ(keys.complete(), 10u);
  keys.end(0);
  EXPECT_EQ(keys.complete(), 12u);
}

}  // namespace
}  // namespace isotherm::workload
