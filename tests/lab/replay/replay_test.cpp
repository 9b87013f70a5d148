#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "index/index.hpp"
#include "lab/replay/driver.hpp"
#include "lab/replay/index_store.hpp"
#include "lab/replay/key_numbers.hpp"
#include "lab/replay/survey.hpp"
#include "lab/replay/values.hpp"
#include "lab/workload/expiry.hpp"

namespace isotherm::replay {
namespace {

TEST(KeyNumbers, GivesEachHashItsNumber) {
  key_numbers numbers;
  EXPECT_FALSE(numbers.find(7).has_value());
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(numbers.add(base::mix64(i)), i);
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(numbers.find(base::mix64(i)), i);
  EXPECT_EQ(numbers.add(base::mix64(5)), 5u);
  EXPECT_EQ(numbers.size(), 100'000u);
  EXPECT_FALSE(numbers.find(base::mix64(100'000)).has_value());
  EXPECT_EQ(numbers.add(0), 100'000u) << "a hash as any other";
  EXPECT_EQ(numbers.find(0), 100'000u);
}

TEST(Values, TellTheirKey) {
  values mine;
  values others;
  for (const std::uint32_t bytes : {8u, 9u, 16u, 17u, 5000u}) {
    const std::string value(mine.make(77, bytes));
    ASSERT_EQ(value.size(), bytes);
    EXPECT_TRUE(others.take(value, 77)) << bytes;
    EXPECT_FALSE(others.take(value, 78)) << bytes;
  }
  EXPECT_TRUE(others.take(mine.make(77, 3), 78)) << "too small for a stamp";
  EXPECT_TRUE(others.take("", 1));
  EXPECT_TRUE(others.take("-1234567890", 1)) << "a counter";
  std::string torn(mine.make(77, 64));
  torn.back() ^= 1;
  EXPECT_FALSE(others.take(torn, 77));
}

TEST(Expiry, RemovesWhatWasNotSetAnew) {
  workload::expiry_times times;
  times.set({"a", 1}, 100);
  times.set({"b", 2}, 50);
  times.set({"c", 3}, 60);
  times.set({"a", 1}, 200);  // set anew: the first time no longer counts
  times.set({"c", 3}, 0);    // set without a time
  std::vector<std::string> gone;
  const auto remove = [&](const item& of) -> base::result<void> {
    gone.emplace_back(of.key);
    return {};
  };
  ASSERT_TRUE(times.run(49, remove));
  EXPECT_TRUE(gone.empty());
  ASSERT_TRUE(times.run(150, remove));
  EXPECT_EQ(gone, std::vector<std::string>{"b"});
  ASSERT_TRUE(times.run(200, remove));
  EXPECT_EQ(gone, (std::vector<std::string>{"b", "a"}));
}

/// A store that writes down all that it is asked for, in the order in which each key meets it.
class listing_store final : public store {
 public:
  struct log {
    std::mutex mutex;
    std::map<std::string, std::vector<std::string>> by_key;
    void add(const item& of, const std::string& request) {
      const std::lock_guard lock(mutex);
      by_key[std::string(of.key)].push_back(request);
    }
  };
  explicit listing_store(bool can_expire = false) : can_expire_(can_expire) {}

  class one final : public session {
   public:
    explicit one(log& to) : to_(to) {}
    base::result<answer> get(const item& of) override { return note(of, "get"); }
    base::result<answer> set(const item& of, std::uint32_t bytes, std::uint64_t ttl_ms) override {
      return note(
          of, "set " + std::to_string(bytes) + (ttl_ms > 0 ? " ms " + std::to_string(ttl_ms) : ""));
    }
    base::result<answer> remove(const item& of) override { return note(of, "delete"); }
    base::result<answer> incr(const item& of) override { return note(of, "incr"); }
    base::result<answer> seek(const item& of, std::uint32_t records,
                              workload::touched_keys&) override {
      return note(of, "seek " + std::to_string(records));
    }

   private:
    base::result<answer> note(const item& of, const std::string& request) {
      to_.add(of, request);
      return answer::done;
    }
    log& to_;
  };
  base::result<std::unique_ptr<session>> connect() override { return std::make_unique<one>(seen); }
  bool can_seek() const noexcept override { return true; }
  bool can_expire() const noexcept override { return can_expire_; }
  workload::target::place runs_in() const noexcept override {
    return workload::target::place::caller;
  }

  log seen;

 private:
  bool can_expire_;
};

class Replay : public testing::Test {
 protected:
  ~Replay() override { std::filesystem::remove(path_); }

  replay_options asking(const std::string& text, unsigned threads) {
    std::ofstream(path_) << text;
    replay_options asked;
    asked.trace = path_;
    asked.bench.threads = threads;
    return asked;
  }
  replayed run_on(store& target, const replay_options& asked, const survey& seen) {
    workload::meters counts(asked.bench.threads);
    workload::touched_keys used(seen.keys());
    auto done = run(target, asked, seen, counts, used, [](const auto&) { return true; });
    EXPECT_TRUE(done) << done.error().message;
    used_ = used.advance()[0];
    return std::move(*done);
  }

  std::string path_ = [] {
    std::string made = testing::TempDir() + "replay.XXXXXX";
    close(mkstemp(made.data()));
    return made;
  }();
  std::uint64_t used_ = 0;
};

constexpr const char* kTrace =
    "time,op,key,key_size,value_size,ttl,records\n"
    "0,get,a,3,100,0,1\n"
    "1,set,b,1,50,3,1\n"
    "2,get,b,1,50,0,1\n"
    "3,incr,c,1,0,0,1\n"
    "3.5,get,c,1,0,0,1\n"
    "5,seek,a,3,0,0,7\n"
    "6,set,a,3,120,0,1\n"
    "6,delete,a,3,0,0,1\n"
    "7,get,b,1,50,0,1\n";

using requests = std::vector<std::string>;

TEST_F(Replay, SendsEachKeysRequestsInOrder) {
  for (const unsigned threads : {1u, 3u}) {
    const auto asked = asking(kTrace, threads);
    const survey seen = look_through(asked).value();
    EXPECT_EQ(seen.requests, 9u);
    EXPECT_EQ(seen.keys(), 3u);
    EXPECT_EQ(seen.keys_read_first(), 1u) << "a alone: b and c are written first";
    listing_store target;
    EXPECT_EQ(fill(target, asked, seen, [](const auto&) { return true; }).value(), 1u);
    const replayed done = run_on(target, asked, seen);
    EXPECT_EQ(target.seen.by_key["axx"],
              (requests{"set 100", "get", "seek 7", "set 120", "delete"}))
        << "filled up to the size of the recorded key";
    EXPECT_EQ(target.seen.by_key["c"], (requests{"incr", "get"}));
    // Whether b's expiry is seen depends on its thread's requests; the last one is behind it.
    EXPECT_EQ(target.seen.by_key["b"], (requests{"set 50", "get", "delete", "get"}));
    EXPECT_EQ(done.expired, 1u);
    EXPECT_EQ(done.driven.sums.operations(), 9u) << "expiry counts as no request";
    EXPECT_EQ(used_, 3u);
  }
}

TEST_F(Replay, LeavesExpiryToStoresThatCanWhenTimed) {
  auto asked = asking(kTrace, 1);
  asked.speed = 1000;
  const survey seen = look_through(asked).value();
  listing_store target(true);
  const replayed done = run_on(target, asked, seen);
  EXPECT_EQ(target.seen.by_key["b"], (requests{"set 50 ms 3", "get", "get"}));
  EXPECT_EQ(done.expired, 0u);
  EXPECT_GE(done.driven.seconds, 0.007) << "7 s of the trace at 1000 times its speed";
}

TEST_F(Replay, SpacesRequestsEvenlyAtARate) {
  auto asked = asking("7\n8\n7\n9\n8\n", 2);
  asked.bench.rate = 100;
  const survey seen = look_through(asked).value();
  listing_store target;
  const replayed done = run_on(target, asked, seen);
  EXPECT_EQ(done.driven.sums.operations(), 5u);
  EXPECT_GE(done.driven.seconds, 0.04) << "the fifth is due 40 ms after the first";
  asked.speed = 1;
  EXPECT_TRUE(check(asked).error().message.contains("give one"));
}

TEST_F(Replay, StopsAfterTheRequestsThatWereAskedFor) {
  auto asked = asking(kTrace, 2);
  asked.requests = 4;
  const survey seen = look_through(asked).value();
  EXPECT_EQ(seen.requests, 4u);
  listing_store target;
  EXPECT_EQ(run_on(target, asked, seen).driven.sums.operations(), 4u);
}

TEST_F(Replay, TakesTheGivenSizeWhereTheTraceTellsNone) {
  auto asked = asking("7\n8\n7\n", 1);
  asked.value_size = 333;
  const survey seen = look_through(asked).value();
  EXPECT_EQ(seen.value_bytes, 666u);
  listing_store target;
  ASSERT_EQ(fill(target, asked, seen, [](const auto&) { return true; }).value(), 2u);
  EXPECT_EQ(target.seen.by_key["8"], requests{"set 333"});
}

TEST_F(Replay, RefusesWhatItCannotReplay) {
  auto asked = asking("7\n8\n", 1);
  asked.speed = 1;
  EXPECT_TRUE(look_through(asked).error().message.ends_with("has no times: leave --speed out"));
  asked.trace = "/dev/null";
  EXPECT_TRUE(check(asked).error().message.contains("no regular file"));
  asked.trace = path_ + ".none";
  EXPECT_TRUE(look_through(asked).error().message.contains("cannot read the trace"));
}

TEST_F(Replay, ChangesAnIndex) {
  const auto index = index::make("art", index::management::off).value();
  const auto target = over_index(*index);
  const auto mine = target->connect().value();
  EXPECT_EQ(mine->get({"k", 1}), answer::missing);
  EXPECT_EQ(mine->set({"k", 1}, 100, 0), answer::done);
  EXPECT_EQ(mine->get({"k", 1}), answer::done);
  EXPECT_EQ(mine->get({"k", 2}), answer::corrupt) << "the value of another key";
  EXPECT_EQ(mine->incr({"k", 1}), answer::missing) << "no number";
  EXPECT_EQ(mine->get({"k", 1}), answer::done) << "and left alone";
  EXPECT_EQ(mine->incr({"n", 3}), answer::done);
  EXPECT_EQ(mine->incr({"n", 3}), answer::done);
  access inside;
  EXPECT_EQ(index->find(inside, "n"), "2");
  workload::touched_keys used(10);
  EXPECT_EQ(mine->seek({"a", 9}, 5, used), answer::done);
  EXPECT_TRUE(used.is_current(1));
  EXPECT_EQ(mine->remove({"k", 1}), answer::done);
  EXPECT_EQ(mine->remove({"k", 1}), answer::missing);
}

}  // namespace
}  // namespace isotherm::replay
