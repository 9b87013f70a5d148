// A pair gets warm by being read or visited by a scan; not by being passed, nor by a walk over
// everything. The collector's windows tell: pairs used in one are promoted at its end.
#include <algorithm>

#include "collector/collector.hpp"
#include "index/any_index.hpp"

namespace isotherm::index {
namespace {

class IndexTemperature : public testing::TestWithParam<std::string_view> {
 protected:
  static constexpr std::size_t kKeys = 600, kVisited = 10;

  IndexTemperature() : index_(std::move(*make(GetParam(), management::on))), collector_(chosen()) {
    for (std::size_t i = 0; i < kKeys; ++i) index_->insert(key_of(i), "value");
    window();
    EXPECT_EQ(window(), 0u);  // all is cold
  }
  /// Different in their first eight bytes, so that no search need read a key but the one it seeks.
  static std::string key_of(std::size_t i) {
    const std::string digits = std::to_string(i);
    return std::string(7 - digits.size(), '0') + digits + " and what is beyond the first eight";
  }
  static collector::options chosen() {
    collector::options chosen;
    chosen.policy = collector::policy_name::published;
    chosen.cold_threshold = 1;
    chosen.adaptive_threshold = false;
    return chosen;
  }
  /// Objects used since the last window.
  std::uint64_t window() { return collector_.run_window().promoted.objects; }
  /// A visitor that ends the scan after kVisited pairs.
  visitor some() {
    return [left = kVisited](std::string_view, std::string_view) mutable { return --left > 0; };
  }

  std::unique_ptr<any_index> index_;
  collector::object_collector collector_;
};

TEST_P(IndexTemperature, AReadWarmsOnePair) {
  {
    access inside;
    EXPECT_TRUE(index_->find(inside, key_of(300)));
  }
  EXPECT_EQ(window(), 2u);
}

TEST_P(IndexTemperature, AskingForAKeyWarmsItAndNotItsValue) {
  {
    access inside;
    EXPECT_TRUE(index_->contains(inside, key_of(300)));
    EXPECT_FALSE(index_->contains(inside, key_of(kKeys)));
  }
  EXPECT_EQ(window(), 1u);
}

TEST_P(IndexTemperature, AScanWarmsWhatItVisits) {
  if (!index_->is_ordered()) return;
  {
    access inside;
    index_->scan(inside, key_of(300), some());
  }
  EXPECT_EQ(window(), 2 * kVisited);
  {
    access inside;
    index_->scan_back(inside, key_of(200), some());
  }
  EXPECT_EQ(window(), 2 * kVisited);
}

TEST_P(IndexTemperature, AWalkOverEverythingWarmsNothing) {
  std::size_t pairs = 0;
  std::uint64_t cursor = 0;
  do {
    access inside;
    cursor = index_->walk(inside, cursor, [&](auto, auto) {
      ++pairs;
      return true;
    });
  } while (cursor != 0);
  EXPECT_GE(pairs, kKeys);
  EXPECT_EQ(window(), 0u);
}

TEST_P(IndexTemperature, InsertsWarmNoNeighbours) {
  constexpr std::size_t kMore = 400;  // nodes split
  for (std::size_t i = 0; i < kMore; ++i) index_->insert(key_of(kKeys + 7 * i), "value");
  EXPECT_LT(window(), kMore / 2);  // but those with which a new key shares its path are read
}

INSTANTIATE_TEST_SUITE_P(All, IndexTemperature, testing::ValuesIn(names()), [](const auto& info) {
  std::string name(info.param);
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace isotherm::index
