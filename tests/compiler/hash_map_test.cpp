// The hash map of hash_map.hpp, compiled with the plugin or without: the same results. The plugin
// makes its values movable, and they move while threads use the map.
#include "hash_map.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/atomic.hpp"
#include "base/random.hpp"
#ifdef ISOTHERM_INSTRUMENTED
#include <isotherm/runtime.hpp>
#endif

namespace {

TEST(HashMap, KeepsWhatIsPut) {
  hash_map map(13);
  for (std::uint64_t key = 1; key <= 1000; ++key) EXPECT_FALSE(map.put(key, 2 * key));
  for (std::uint64_t key = 1; key <= 1000; key += 2) EXPECT_TRUE(map.put(key, 3 * key));
  for (std::uint64_t key = 1; key <= 1000; key += 5) EXPECT_TRUE(map.erase(key));
  map.swap_in_bucket(7);
  std::uint64_t sum = 0;
  for (std::uint64_t key = 1; key <= 1000; ++key) {
    const std::uint64_t expected = key % 5 == 1 ? 0 : key % 2 == 1 ? 3 * key : 2 * key;
    EXPECT_EQ(map.get(key), expected);
    sum += expected;
  }
  EXPECT_EQ(map.sum(), sum);
}

#ifdef ISOTHERM_INSTRUMENTED

/// Windows one after the other, without a pause, until objects have often moved in both directions.
void collect_until_moved(const std::string& protocol) {
  constexpr std::uint64_t kEnough = 2000;
  isotherm::collector::options options;
  options.window_seconds = 0.001;
  options.policy = isotherm::collector::policy_name::published;
  options.cold_threshold = 1;
  options.adaptive_threshold = false;
  options.protocol = protocol;
  isotherm::collector::object_collector collector(options);
  std::uint64_t promoted = 0, demoted = 0;
  while (promoted < kEnough || demoted < kEnough) {
    const auto seen = collector.run_window();
    promoted += seen.promoted.objects;
    demoted += seen.demoted.objects;
  }
}

constexpr std::uint64_t kKeys = 2000;

/// One operation: half of them on a twentieth of the keys. False when a value was not what was put.
bool use_once(hash_map& map, std::uint64_t random) {
  const std::uint64_t key = 1 + (random >> 20) % (random & 1 ? kKeys : kKeys / 20);
  switch (random >> 60) {
    case 0:
      map.put(key, random >> 8);
      return true;
    case 1:
      map.erase(key);
      return true;
    case 2:
      map.swap_in_bucket(key);
      return true;
    default:
      return map.get(key) != ~std::uint64_t{0};
  }
}

class HashMapThatMoves : public testing::TestWithParam<std::string> {};

TEST_P(HashMapThatMoves, LosesNothing) {
  hash_map map(97);
  for (std::uint64_t key = 1; key <= kKeys; ++key) map.put(key, key);
  isotherm::base::atomic<bool> stop{false};
  isotherm::base::atomic<std::uint64_t> wrong{0};
  const auto use = [&](std::uint64_t seed) {
    isotherm::base::random random(seed);
    while (!stop.load_acquire()) {
      if (!use_once(map, random())) wrong.fetch_add_relaxed(1);
    }
  };
  std::thread one(use, 1), other(use, 2);
  collect_until_moved(GetParam());
  stop.store_release(true);
  one.join();
  other.join();
  EXPECT_EQ(wrong.load_relaxed(), 0);
}

INSTANTIATE_TEST_SUITE_P(Protocols, HashMapThatMoves, testing::Values("veto", "counts"));

#endif

}  // namespace
