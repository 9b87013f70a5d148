// Nothing is lost or torn while the collector moves objects as fast as it can: threads insert,
// update, read, delete, scan, clear and verify checksummed values while another thread runs window
// after window with a cold threshold of 1. Every structure, migration protocol and mix (mix.hpp);
// between two phases the structure's invariants are walked. Sanitizer builds see every access to
// freed memory, too.
//
// ISOTHERM_STRESS_OPS sets the operations of each thread in each phase (default: a short run);
// ISOTHERM_TEST_SEED repeats a run.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "collector/collector.hpp"
#include "collector/protocol/protocol.hpp"
#include "index/any_index.hpp"
#include "stress/mix.hpp"

namespace isotherm::index {
namespace {

constexpr unsigned kThreads = 4, kPhases = 2;
/// When the collector has moved nothing in so many times the steps, the test fails.
constexpr std::uint64_t kPatience = 200;

std::uint64_t operations(const mix& work) {
  const char* given = std::getenv("ISOTHERM_STRESS_OPS");
  const std::uint64_t steps = given ? std::strtoull(given, nullptr, 10) : 500;
  return std::max<std::uint64_t>(steps / work.cost, 1);
}

/// The collector's work so far.
struct progress {
  std::atomic<std::uint64_t> demoted{0}, promoted{0}, windows{0};
  bool has_moved() const { return demoted.load() > 0 && promoted.load() > 0; }
};

/// How often some thread has begun, and ended, to clear the index.
struct clearings {
  std::atomic<std::uint64_t> started{0}, ended{0};
};

class worker {
 public:
  worker(any_index& index, const mix& work, clearings& cleared, unsigned thread, std::uint64_t seed)
      : index_(index),
        mix_(work),
        cleared_(cleared),
        suffix_("/" + std::to_string(thread)),
        random_(seed + thread),
        own_(work.own_keys) {}

  /// At least `steps`, and until objects have moved both ways: the test means nothing otherwise.
  void run(std::uint64_t steps, const progress& moving) {
    for (std::uint64_t i = 0; i < steps || (!moving.has_moved() && i < kPatience * steps); ++i) {
      if (testing::Test::HasFailure()) return;
      step();
    }
    check_all_own();
  }
  void check_all_own() {
    for (std::uint64_t k = 0; k < own_.size(); ++k) check_own(k);
  }
  std::size_t own_present() const {
    std::size_t present = 0;
    for (const auto& each : own_) present += !each.value.empty();
    return present;
  }

 private:
  std::string fresh_value(std::string_view key) {
    return make_value(key, mix_.value_size(random_), random_);
  }
  std::string own_key(std::uint64_t k) const { return mix_.key(k) + suffix_; }
  void check_own(std::uint64_t k) {
    const std::string key = own_key(k);
    access inside;
    const auto found = index_.find(inside, key);
    if (found) {
      ASSERT_FALSE(own_[k].value.empty()) << key;
      ASSERT_TRUE(*found == own_[k].value) << key;
    } else {
      ASSERT_TRUE(may_be_gone(k)) << key;
      own_[k].value.clear();
    }
  }
  /// Asked after the key was found to be gone.
  bool may_be_gone(std::uint64_t k) const {
    return own_[k].value.empty() || own_[k].clearings_before != cleared_.started.load();
  }

  void step() {
    const std::string key = mix_.key(random_.below(mix_.shared_keys));
    switch (mix_.choose(random_)) {
      case mix::insert:
        index_.insert(key, fresh_value(key));
        return;
      case mix::upsert:
        ASSERT_EQ(index_.upsert(key, fresh_value(key)), outcome::done);
        return;
      case mix::erase:
        index_.erase(key);
        return;
      case mix::update:
        return update(key);
      case mix::visit:
        return visit_some(key);
      case mix::change_own:
        return change_own(random_.below(own_.size()));
      case mix::check_own:
        return check_own(random_.below(own_.size()));
      case mix::clear:
        return clear();
      default:
        return read(key);
    }
  }
  void read(const std::string& key) {
    access inside;
    const auto found = index_.find(inside, key);
    if (!found) return;
    ASSERT_TRUE(is_intact(key, *found)) << key;
    std::this_thread::yield();  // held across a switch: it must stay what it is
    ASSERT_TRUE(is_intact(key, *found)) << key;
  }
  void update(const std::string& key) {
    std::string next;
    const bool erases = random_.below(4) == 0;
    index_.update(key, [&](std::optional<std::string_view> current) {
      if (current) EXPECT_TRUE(is_intact(key, *current)) << key;
      if (erases) return decision{current ? action::erase : action::keep, {}};
      next = fresh_value(key);
      return decision{action::write, next};
    });
  }
  void visit_some(const std::string& from) {
    access inside;
    int left = 10;
    const auto check = [&](std::string_view key, std::string_view value) {
      EXPECT_TRUE(is_intact(key, value)) << key;
      return --left > 0;
    };
    const auto way = random_.below(3);
    if (!index_.is_ordered() || way == 0) {
      cursor_ = index_.walk(inside, cursor_, [&](auto key, auto value) {
        return value ? check(*key, *value) : --left > 0;  // its value is out
      });
    } else if (way == 1) {
      index_.scan(inside, from, check);
    } else {
      index_.scan_back(inside, from, check);
    }
  }
  void change_own(std::uint64_t k) {
    const std::string key = own_key(k);
    if (random_.below(3) == 0) {
      if (index_.erase(key)) {
        ASSERT_FALSE(own_[k].value.empty()) << key;
      } else {
        ASSERT_TRUE(may_be_gone(k)) << key;
      }
      own_[k].value.clear();
      return;
    }
    own_[k] = {fresh_value(key), cleared_.ended.load()};
    ASSERT_EQ(index_.upsert(key, own_[k].value), outcome::done);
  }
  void clear() {
    ++cleared_.started;
    index_.clear();
    ++cleared_.ended;
  }

  /// The value of a key of this thread alone; empty: absent. While all clearings that have begun
  /// are those that had ended before it was written, it is there.
  struct own_pair {
    std::string value;
    std::uint64_t clearings_before = 0;
  };

  any_index& index_;
  const mix& mix_;
  clearings& cleared_;
  const std::string suffix_;
  base::random random_;
  std::vector<own_pair> own_;
  std::uint64_t cursor_ = 0;
};

/// Windows without a pause until `is_done`.
void collect_until(const std::atomic<bool>& is_done, std::string_view protocol, progress& total) {
  collector::options chosen;
  chosen.window_seconds = 0.001;
  chosen.policy = collector::policy_name::published;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  chosen.protocol = protocol;
  collector::object_collector collector(chosen);
  do {
    const auto window = collector.run_window();
    total.demoted += window.demoted.objects;
    total.promoted += window.promoted.objects;
    ++total.windows;
  } while (!is_done.load());
}

/// While no thread writes, each value is where it belongs, and the counts agree.
void expect_whole(any_index& index, std::vector<worker>& workers) {
  std::size_t own = 0, all = 0, expected_own = 0;
  for (worker& each : workers) {
    each.check_all_own();
    expected_own += each.own_present();
  }
  std::uint64_t cursor = 0;
  access inside;
  do {
    cursor = index.walk(inside, cursor, [&](auto key, auto value) {
      EXPECT_TRUE(!value || is_intact(*key, *value)) << *key;
      own += key->find('/') != key->npos;
      ++all;
      return true;
    });
  } while (cursor != 0);
  EXPECT_EQ(own, expected_own);
  EXPECT_EQ(all, index.size());
  EXPECT_TRUE(index.is_valid());
}

/// (structure, migration protocol, mix)
class MigrationStress
    : public testing::TestWithParam<std::tuple<std::string_view, std::string_view, mix>> {};

TEST_P(MigrationStress, NoValueIsLostOrTorn) {
  const auto& [name, protocol, work] = GetParam();
  const std::uint64_t seed = test_seed();
  auto index = std::move(*make(name, management::on));
  clearings cleared;
  std::vector<worker> workers;
  for (unsigned t = 0; t < kThreads; ++t) workers.emplace_back(*index, work, cleared, t, seed);
  progress moving;
  for (unsigned phase = 0; phase < kPhases && !HasFailure(); ++phase) {
    std::atomic<bool> is_done{false};
    std::jthread collecting([&, how = protocol] { collect_until(is_done, how, moving); });
    {
      std::vector<std::jthread> threads;
      const std::uint64_t steps = operations(work);
      for (worker& each : workers) {
        threads.emplace_back([&each, &moving, steps] { each.run(steps, moving); });
      }
    }
    is_done.store(true);
    collecting.join();
    expect_whole(*index, workers);
  }
  index->clear();
  EXPECT_EQ(index->size(), 0u);
  EXPECT_TRUE(index->is_valid());
  EXPECT_TRUE(moving.has_moved());
  std::cout << moving.windows << " windows, " << moving.demoted << " demoted, " << moving.promoted
            << " promoted, " << cleared.ended << " times cleared\n";
}

INSTANTIATE_TEST_SUITE_P(All, MigrationStress,
                         testing::Combine(testing::ValuesIn(names()),
                                          testing::ValuesIn(collector::protocol_names()),
                                          testing::ValuesIn(kMixes)),
                         [](const auto& info) {
                           std::string name(std::get<0>(info.param));
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name + "_" + std::string(std::get<1>(info.param)) + "_" +
                                  std::string(std::get<2>(info.param).name);
                         });

}  // namespace
}  // namespace isotherm::index
