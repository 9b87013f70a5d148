#include "lab/workload/touched.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

#include "base/random.hpp"

namespace isotherm::workload {
namespace {

std::uint64_t used_within(const touched_keys::ages& by_age, unsigned windows) {
  return std::accumulate(by_age.begin(), by_age.begin() + windows, std::uint64_t{0});
}

TEST(TouchedKeys, CountsByAge) {
  touched_keys used(100);
  used.mark(1);
  used.mark(2);
  used.mark(2);
  used.mark(100);  // beyond the last key
  EXPECT_TRUE(used.is_current(1));
  EXPECT_EQ(used.advance()[0], 2u);
  EXPECT_FALSE(used.is_current(1));
  used.mark(2);
  used.mark(3);
  const auto ages = used.advance();
  EXPECT_EQ(ages[0], 2u);
  EXPECT_EQ(ages[1], 1u);
  EXPECT_EQ(used_within(ages, 1), 2u);
  EXPECT_EQ(used_within(ages, 2), 3u);
  EXPECT_EQ(used_within(ages, 31), 3u);
}

TEST(TouchedKeys, NamesTheKeysOfTheLastWindows) {
  touched_keys used(10);
  for (std::uint64_t window = 0; window < 300; ++window) {  // past the end of the numbering
    used.mark(window % 7);
    used.mark(9);
    used.advance();
    const auto found = used.last_uses();
    ASSERT_EQ(found.size(), std::min<std::uint64_t>(window + 1, 7) + 1) << window;
    for (const auto& [number, age] : found) {
      ASSERT_EQ(age, number == 9 ? 0 : (window + 7 - number) % 7) << window;
    }
  }
  used.mark(9);  // in the window that has begun
  EXPECT_EQ(used.last_uses().size(), 7u);
  for (unsigned i = 0; i < touched_keys::kWindows + 1; ++i) used.advance();
  EXPECT_TRUE(used.last_uses().empty());
}

TEST(TouchedKeys, AgreesWithSetsOverManyWindows) {
  constexpr std::uint64_t kSeed = 3;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  base::random random(kSeed);
  touched_keys used(500);
  std::deque<std::set<std::uint64_t>> windows;  // the youngest first
  // More windows than the byte has numbers, so that old ones would come back if not forgotten.
  for (int window = 0; window < 700; ++window) {
    windows.emplace_front();
    for (std::uint64_t i = random.below(20); i > 0; --i) {
      const std::uint64_t key = random.below(500);
      used.mark(key);
      windows.front().insert(key);
    }
    if (windows.size() > touched_keys::kWindows) windows.pop_back();
    const auto ages = used.advance();
    std::set<std::uint64_t> seen;
    for (unsigned age = 0; age < windows.size(); ++age) {
      seen.insert(windows[age].begin(), windows[age].end());
      ASSERT_EQ(used_within(ages, age + 1), seen.size()) << "window " << window << ", age " << age;
    }
  }
}

}  // namespace
}  // namespace isotherm::workload
