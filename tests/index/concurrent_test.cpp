// Several threads on one structure: disjoint keys, shared hot keys, races for the same keys, scans
// and walks beside writers. The structure's invariants are walked after each phase.
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "base/thread_state.hpp"
#include "index/any_index.hpp"
#include "index/writer_first_lock.hpp"

namespace isotherm::index {
namespace {

constexpr unsigned kThreads = 4;
#if defined(ISOTHERM_SANITIZED)
const std::uint64_t kScale = test_scale();
#else
const std::uint64_t kScale = 8 * test_scale();
#endif

class IndexConcurrent : public any_index_test {
 protected:
  /// Runs `work(thread)` in kThreads threads at once.
  template <class Work>
  static void in_threads(Work work) {
    std::atomic<unsigned> ready{0};
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        ready.fetch_add(1);
        while (ready.load() < kThreads) std::this_thread::yield();
        work(t);
      });
    }
  }
};

std::string key_of(std::uint64_t i) { return "key" + std::to_string(i); }

TEST_P(IndexConcurrent, DisjointKeysBehaveAsIfAlone) {
  auto index = make_index();
  const std::uint64_t seed = test_seed();
  constexpr std::uint64_t kKeys = 500;
  const std::uint64_t steps = 2500 * kScale;
  std::vector<std::vector<std::string>> expected(kThreads, std::vector<std::string>(kKeys));
  in_threads([&](unsigned t) {
    base::random random(seed + t);
    auto& mine = expected[t];  // empty: absent
    for (std::uint64_t i = 0; i < steps; ++i) {
      const std::uint64_t k = random.below(kKeys);
      const std::string key = key_of(k * kThreads + t);
      const std::string value = std::to_string(i + 1);
      switch (random.below(5)) {
        case 0:
          EXPECT_EQ(index->insert(key, value),
                    mine[k].empty() ? outcome::done : outcome::unchanged);
          if (mine[k].empty()) mine[k] = value;
          break;
        case 1:
          EXPECT_EQ(index->upsert(key, value), outcome::done);
          mine[k] = value;
          break;
        case 2:
          EXPECT_EQ(index->erase(key), !mine[k].empty());
          mine[k].clear();
          break;
        default:
          EXPECT_EQ(get(*index, key).value_or(""), mine[k]);
      }
    }
  });
  std::size_t total = 0;
  for (unsigned t = 0; t < kThreads; ++t) {
    for (std::uint64_t k = 0; k < kKeys; ++k) {
      EXPECT_EQ(get(*index, key_of(k * kThreads + t)).value_or(""), expected[t][k]);
      total += !expected[t][k].empty();
    }
  }
  EXPECT_EQ(index->size(), total);
  EXPECT_TRUE(index->is_valid());
}

outcome add_one(any_index& index, std::string_view key) {
  std::string text;
  return index.update(key, [&](std::optional<std::string_view> current) {
    text = std::to_string(current ? std::stoull(std::string(*current)) + 1 : 1);
    return decision{action::write, text};
  });
}

TEST_P(IndexConcurrent, NoIncrementOfAHotKeyIsLost) {
  auto index = make_index();
  const std::uint64_t seed = test_seed();
  constexpr std::uint64_t kHot = 4;
  const std::uint64_t steps = 2500 * kScale;
  in_threads([&](unsigned t) {
    base::random random(seed + t);
    for (std::uint64_t i = 0; i < steps; ++i) {
      EXPECT_EQ(add_one(*index, key_of(random.below(kHot))), outcome::done);
    }
  });
  std::uint64_t sum = 0;
  for (std::uint64_t k = 0; k < kHot; ++k) sum += std::stoull(*get(*index, key_of(k)));
  EXPECT_EQ(sum, steps * kThreads);
  EXPECT_TRUE(index->is_valid());
}

// The thread that takes a token away puts it back: the answers of erase and insert must add up, and
// an update that erases gives each counter value to one thread only.
TEST_P(IndexConcurrent, RacesOfInsertAndEraseAddUp) {
  auto index = make_index();
  const std::uint64_t seed = test_seed();
  constexpr std::uint64_t kKeys = 8;
  const std::uint64_t steps = 5000 * kScale;
  std::atomic<std::int64_t> net{0};
  in_threads([&](unsigned t) {
    base::random random(seed + t);
    std::int64_t mine = 0;
    for (std::uint64_t i = 0; i < steps; ++i) {
      const std::string key = key_of(random.below(kKeys));
      switch (random.below(3)) {
        case 0:
          mine += index->insert(key, "v") == outcome::done;
          break;
        case 1:
          mine -= index->erase(key);
          break;
        default:
          mine -= index->update(key, [](std::optional<std::string_view>) {
            return decision{action::erase, {}};
          }) == outcome::done;
      }
    }
    net += mine;
  });
  EXPECT_EQ(static_cast<std::int64_t>(index->size()), net.load());
  EXPECT_TRUE(index->is_valid());
}

TEST_P(IndexConcurrent, CountersThatAreAlsoErasedAddUp) {
  auto index = make_index();
  const std::uint64_t seed = test_seed();
  constexpr std::uint64_t kKeys = 4;
  const std::uint64_t steps = 2500 * kScale;
  std::atomic<std::uint64_t> collected{0};
  in_threads([&](unsigned t) {
    base::random random(seed + t);
    for (std::uint64_t i = 0; i < steps; ++i) {
      const std::string key = key_of(random.below(kKeys));
      EXPECT_EQ(add_one(*index, key), outcome::done);
      if (random.below(4) != 0) continue;
      std::uint64_t taken = 0;
      index->update(key, [&](std::optional<std::string_view> current) {
        taken = current ? std::stoull(std::string(*current)) : 0;
        return decision{action::erase, {}};
      });
      collected += taken;
    }
  });
  std::uint64_t left = 0;
  for (std::uint64_t k = 0; k < kKeys; ++k)
    left += std::stoull(get(*index, key_of(k)).value_or("0"));
  EXPECT_EQ(collected.load() + left, steps * kThreads);
  EXPECT_TRUE(index->is_valid());
}

TEST_P(IndexConcurrent, ReadersFindStableKeysWhileTheStructureChanges) {
  auto index = make_index();
  constexpr std::uint64_t kStable = 500;
  const std::uint64_t steps = 2500 * kScale;
  for (std::uint64_t i = 0; i < kStable; ++i) index->insert(key_of(i * 64), key_of(i * 64));
  const std::uint64_t seed = test_seed();
  std::atomic<bool> is_done{false};
  std::vector<std::jthread> readers;
  for (unsigned r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      base::random random(seed + 100 + r);
      while (!is_done.load()) {
        const std::string key = key_of(random.below(kStable) * 64);
        access inside;
        const auto found = index->find(inside, key);
        ASSERT_TRUE(found.has_value()) << key;
        ASSERT_EQ(*found, key);
      }
    });
  }
  in_threads([&](unsigned t) {
    base::random random(seed + t);
    for (std::uint64_t i = 0; i < steps; ++i) {
      const std::string key = key_of(random.below(kStable * 64) | 1);
      if (random.below(3)) {
        index->insert(key, "v");
      } else {
        index->erase(key);
      }
    }
  });
  is_done.store(true);
  readers.clear();
  EXPECT_TRUE(index->is_valid());
}

void expect_stable_scan(any_index& index, bool is_back, std::uint64_t stable) {
  access inside;
  std::string before;
  std::uint64_t seen = 0;
  bool is_first = true;
  const visitor check = [&](std::string_view key, std::string_view value) {
    EXPECT_TRUE(is_first || (is_back ? key < before : before < key)) << before << ", " << key;
    is_first = false;
    before = key;
    seen += value == "stable";
    return true;
  };
  if (is_back) {
    index.scan_back(inside, std::nullopt, check);
  } else {
    index.scan(inside, "", check);
  }
  EXPECT_EQ(seen, stable);
}

TEST_P(IndexConcurrent, ScansAndWalksSeeEachStableKey) {
  auto index = make_index();
  constexpr std::uint64_t kStable = 300;
  const std::uint64_t steps = 1250 * kScale;
  for (std::uint64_t i = 0; i < kStable; ++i) index->insert(key_of(i * 64), "stable");
  const std::uint64_t seed = test_seed();
  std::atomic<bool> is_done{false};
  std::jthread reader([&] {
    while (!is_done.load()) {
      if (index->is_ordered()) {
        expect_stable_scan(*index, false, kStable);
        expect_stable_scan(*index, true, kStable);
      }
      std::uint64_t seen = 0, cursor = 0;
      do {
        access inside;
        cursor = index->walk(inside, cursor, [&](auto, auto value) {
          seen += value == "stable";
          return true;
        });
      } while (cursor != 0);
      EXPECT_GE(seen, kStable);
    }
  });
  in_threads([&](unsigned t) {
    base::random random(seed + t);
    for (std::uint64_t i = 0; i < steps; ++i) {
      const std::string key = key_of(random.below(kStable * 64) | 1);
      if (random.below(2)) {
        index->upsert(key, "passing");
      } else {
        index->erase(key);
      }
    }
  });
  is_done.store(true);
  reader.join();
  EXPECT_TRUE(index->is_valid());
}

// Chains, nodes and tables that fill and empty again: splits, merges and growth beside readers.
TEST_P(IndexConcurrent, ScansSeeEachStableKeyWhileOthersSwellAndShrink) {
  auto index = make_index();
  constexpr std::uint64_t kStable = 100, kPassing = 1000;
  const std::uint64_t rounds = 1 + kScale;
  const auto passing = [](unsigned t, std::uint64_t i) {
    return key_of((i * kThreads + t) * 2 + 1);
  };
  for (std::uint64_t i = 0; i < kStable; ++i) index->insert(key_of(i * 80), "stable");
  std::atomic<bool> is_done{false};
  std::jthread reader([&] {
    while (!is_done.load()) {
      if (index->is_ordered()) {
        expect_stable_scan(*index, false, kStable);
        expect_stable_scan(*index, true, kStable);
      }
      for (std::uint64_t i = 0; i < kStable; ++i) EXPECT_EQ(get(*index, key_of(i * 80)), "stable");
    }
  });
  in_threads([&](unsigned t) {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::uint64_t i = 0; i < kPassing; ++i) {
        EXPECT_EQ(index->insert(passing(t, i), "passing"), outcome::done);
      }
      for (std::uint64_t i = 0; i < kPassing; ++i) EXPECT_TRUE(index->erase(passing(t, i)));
    }
  });
  is_done.store(true);
  reader.join();
  EXPECT_EQ(index->size(), kStable);
  EXPECT_TRUE(index->is_valid());
}

TEST_P(IndexConcurrent, ClearBesideWritersKeepsTheCount) {
  auto index = make_index();
  const std::uint64_t seed = test_seed();
  in_threads([&](unsigned t) {
    base::random random(seed + t);
    for (std::uint64_t i = 0; i < 1500 * kScale; ++i) {
      if (t == 0 && i % 300 == 0) index->clear();
      const std::string key = key_of(random.below(2000));
      if (random.below(4)) {
        index->upsert(key, "v");
      } else {
        index->erase(key);
      }
    }
  });
  EXPECT_TRUE(index->is_valid());
  index->clear();
  EXPECT_EQ(index->size(), 0u);
  EXPECT_TRUE(index->is_valid());
}

// A structure that clears itself without reading keys tells such keys apart by what links to them.
TEST_P(IndexConcurrent, ClearBesideWritersOfKeysThatBeginAlike) {
  auto index = make_index();
  const std::uint64_t seed = test_seed();
  const auto key_at = [](std::uint64_t i) { return "they all begin alike: " + key_of(i); };
  constexpr std::uint64_t kKeys = 300;
  in_threads([&](unsigned t) {
    base::random random(seed + t);
    for (std::uint64_t i = 0; i < 1500 * kScale; ++i) {
      if (t < 2 && i % 100 == 0) index->clear();
      const std::string key = key_at(random.below(kKeys));
      if (random.below(4)) {
        index->upsert(key, key);
      } else {
        index->erase(key);
      }
    }
  });
  EXPECT_TRUE(index->is_valid());
  for (std::uint64_t i = 0; i < kKeys; ++i) index->upsert(key_at(i), key_at(i));
  EXPECT_EQ(index->size(), kKeys);
  index->clear();
  EXPECT_EQ(index->size(), 0u);
  EXPECT_TRUE(index->is_valid());
}

/// A thread that takes a lock in its turn; what it may sleep in is that lock alone.
class contender {
 public:
  template <class Lock>
  explicit contender(Lock lock, std::string name, std::vector<std::string>& entered)
      : thread_([this, lock = std::move(lock), name = std::move(name), &entered]() mutable {
          id_.store(gettid());
          lock.lock();
          entered.push_back(name);  // alone in there, as long as the lock does what it should
          has_entered_.store(true);
        }) {}

  /// Returns when the thread is blocked in the lock, or was let in: the two conditions themselves,
  /// as the kernel and the thread tell them. Nothing here depends on a time.
  void wait_until_it_waits() const {
    while (!has_entered_.load() && !is_blocked()) std::this_thread::yield();
  }

 private:
  bool is_blocked() const {
    const pid_t id = id_.load();
    return id != 0 && testing_help::state_of(id) == 'S';
  }

  std::atomic<pid_t> id_{0};
  std::atomic<bool> has_entered_{false};
  std::jthread thread_;
};

TEST(WriterFirstLock, AWaitingWriterGoesBeforeAReaderThatComesAfterIt) {
  writer_first_lock lock;
  std::vector<std::string> entered;
  {
    std::shared_lock busy(lock);
    const contender writer(std::unique_lock(lock, std::defer_lock), "writer", entered);
    writer.wait_until_it_waits();
    const contender reader(std::shared_lock(lock, std::defer_lock), "reader", entered);
    reader.wait_until_it_waits();
    busy.unlock();
  }
  EXPECT_EQ(entered, (std::vector<std::string>{"writer", "reader"}));
}

INSTANTIATE_TEST_SUITE_P(All, IndexConcurrent, all_kinds(), kind_name);

}  // namespace
}  // namespace isotherm::index
