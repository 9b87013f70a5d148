// Nothing is lost or torn while the collector moves objects as fast as it can: threads insert,
// update, read, delete, scan and verify checksummed values while another thread runs window after
// window with a cold threshold of 1. Sanitizer builds see every access to freed memory, too.
//
// ISOTHERM_STRESS_OPS sets the operations of each thread (default: seconds of work).
#include <gtest/gtest.h>
#include <xxhash.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "collector/collector.hpp"
#include "collector/protocol.hpp"
#include "index/any_index.hpp"

namespace isotherm::index {
namespace {

constexpr unsigned kThreads = 4;
constexpr std::uint64_t kSharedKeys = 2000, kOwnKeys = 200;

std::uint64_t operations() {
  const char* given = std::getenv("ISOTHERM_STRESS_OPS");
  return given ? std::strtoull(given, nullptr, 10) : 20000;
}

/// Checksum of the content, seeded by the key: a value under a wrong key is found as well.
std::uint64_t checksum(std::string_view key, std::string_view content) {
  return XXH64(content.data(), content.size(), XXH64(key.data(), key.size(), 0));
}

std::string make_value(std::string_view key, base::random& random) {
  std::string value(8 + random.below(random.below(20) ? 200 : 5000), '\0');
  std::uint64_t word = random();
  for (std::size_t i = 8; i < value.size(); ++i) value[i] = static_cast<char>(word = word * 5 + 1);
  const std::uint64_t sum = checksum(key, std::string_view(value).substr(8));
  std::memcpy(value.data(), &sum, 8);
  return value;
}

bool is_intact(std::string_view key, std::string_view value) {
  std::uint64_t sum = 0;
  if (value.size() < 8) return false;
  std::memcpy(&sum, value.data(), 8);
  return sum == checksum(key, value.substr(8));
}

/// (structure, migration protocol)
class migration_stress
    : public testing::TestWithParam<std::tuple<std::string_view, std::string_view>> {};

class worker {
 public:
  worker(any_index& index, unsigned thread, std::uint64_t seed)
      : index_(index), thread_(thread), random_(seed + thread), own_(kOwnKeys) {}

  void run(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    for (std::uint64_t k = 0; k < kOwnKeys; ++k) check_own(k);
  }
  std::size_t own_present() const {
    std::size_t present = 0;
    for (const auto& value : own_) present += !value.empty();
    return present;
  }

 private:
  std::string own_key(std::uint64_t k) const {
    return "own:" + std::to_string(thread_) + ":" + std::to_string(k);
  }
  void check_own(std::uint64_t k) {
    const std::string key = own_key(k);
    const scope inside;
    const auto found = index_.find(inside, key);
    ASSERT_EQ(found.has_value(), !own_[k].empty()) << key;
    if (found) ASSERT_EQ(*found, own_[k]) << key;
  }

  void step() {
    const std::string key = "shared:" + std::to_string(random_.below(kSharedKeys));
    switch (random_.below(10)) {
      case 0:
        index_.insert(key, make_value(key, random_));
        break;
      case 1:
        index_.upsert(key, make_value(key, random_));
        break;
      case 2:
        index_.erase(key);
        break;
      case 3:
        update(key);
        break;
      case 4:
        visit_some(key);
        break;
      case 5:
      case 6:
        change_own(random_.below(kOwnKeys));
        break;
      case 7:
        check_own(random_.below(kOwnKeys));
        break;
      default:
        read(key);
    }
  }
  void read(const std::string& key) {
    const scope inside;
    const auto found = index_.find(inside, key);
    if (!found) return;
    ASSERT_TRUE(is_intact(key, *found)) << key;
    std::this_thread::yield();  // held across a switch: it must stay what it is
    ASSERT_TRUE(is_intact(key, *found)) << key;
  }
  void update(const std::string& key) {
    std::string next;
    index_.update(key, [&](std::optional<std::string_view> current) {
      if (current) EXPECT_TRUE(is_intact(key, *current)) << key;
      next = make_value(key, random_);
      return decision{action::write, next};
    });
  }
  void visit_some(const std::string& from) {
    const scope inside;
    int left = 10;
    const auto check = [&](std::string_view key, std::string_view value) {
      EXPECT_TRUE(is_intact(key, value)) << key;
      return --left > 0;
    };
    if (index_.is_ordered()) {
      index_.scan(inside, from, check);
    } else {
      cursor_ = index_.walk(inside, cursor_, check);
    }
  }
  void change_own(std::uint64_t k) {
    const std::string key = own_key(k);
    const bool was_there = !own_[k].empty();
    if (random_.below(3) == 0) {
      ASSERT_EQ(index_.erase(key), was_there) << key;
      own_[k].clear();
      return;
    }
    own_[k] = make_value(key, random_);
    ASSERT_EQ(index_.upsert(key, own_[k]), outcome::done);
  }

  any_index& index_;
  const unsigned thread_;
  base::random random_;
  std::vector<std::string> own_;  // what this thread's keys hold; empty: absent
  std::uint64_t cursor_ = 0;
};

struct moved {
  std::uint64_t demoted = 0, promoted = 0, windows = 0;
};

/// Windows without a pause until `is_done`.
moved collect_until(const std::atomic<bool>& is_done, std::string_view protocol) {
  collector::options chosen;
  chosen.window_seconds = 0.001;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  chosen.protocol = protocol;
  collector::object_collector collector(chosen);
  moved total;
  do {
    const auto window = collector.run_window();
    total.demoted += window.demoted.objects;
    total.promoted += window.promoted.objects;
    ++total.windows;
  } while (!is_done.load());
  return total;
}

TEST_P(migration_stress, no_value_is_lost_or_torn) {
  const auto [name, protocol] = GetParam();
  const std::uint64_t seed = test_seed();
  auto index = std::move(*make(name, true));
  std::vector<worker> workers;
  for (unsigned t = 0; t < kThreads; ++t) workers.emplace_back(*index, t, seed);
  std::atomic<bool> is_done{false};
  moved total;
  std::jthread collecting([&] { total = collect_until(is_done, protocol); });
  {
    std::vector<std::jthread> threads;
    for (worker& each : workers) threads.emplace_back([&each] { each.run(operations()); });
  }
  is_done.store(true);
  collecting.join();

  std::size_t own = 0, shared = 0, expected_own = 0;
  for (const worker& each : workers) expected_own += each.own_present();
  std::uint64_t cursor = 0;
  const scope inside;
  do {
    cursor = index->walk(inside, cursor, [&](std::string_view key, std::string_view value) {
      EXPECT_TRUE(is_intact(key, value)) << key;
      (key.starts_with("own:") ? own : shared) += 1;
      return true;
    });
  } while (cursor != 0);
  EXPECT_EQ(own, expected_own);
  EXPECT_EQ(own + shared, index->size());
  EXPECT_TRUE(index->is_valid());
  // The test means something only if objects moved both ways.
  EXPECT_GT(total.demoted, 0u);
  EXPECT_GT(total.promoted, 0u);
  std::cout << total.windows << " windows, " << total.demoted << " demoted, " << total.promoted
            << " promoted\n";
}

INSTANTIATE_TEST_SUITE_P(all, migration_stress,
                         testing::Combine(testing::ValuesIn(names()),
                                          testing::ValuesIn(collector::protocol_names())),
                         [](const auto& info) {
                           std::string name(std::get<0>(info.param));
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name + "_" + std::string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace isotherm::index
