// Pairs whose values the disk does not give back. A program of its own, since heaps are configured
// once.
#include <algorithm>
#include <string>

#include "collector/collector.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/configure.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/truncate_cold.hpp"
#include "heap/usage.hpp"
#include "index/any_index.hpp"

namespace isotherm::index {
namespace {

class IndexUnreadable : public testing::TestWithParam<std::string_view> {
 protected:
  static constexpr std::size_t kKeys = 2000;
  static constexpr std::size_t kRangeBytes = std::size_t{1} << 30;

  static void SetUpTestSuite() {
    const testing_help::temporary_directory directory;
    path = directory.path();
    heap::options chosen;
    chosen.range_bytes = kRangeBytes;
    chosen.cold = *heap::cold_backing::parse("file:" + path);
    ASSERT_TRUE(heap::configure(chosen));
  }
  ~IndexUnreadable() override { testing_help::truncate_cold(path, kRangeBytes); }
  static std::string key_of(std::size_t i) { return std::to_string(i * 7919) + " is the key"; }
  static collector::options chosen() {
    collector::options chosen;
    chosen.policy = collector::policy_name::published;
    chosen.cold_threshold = 1;
    chosen.adaptive_threshold = false;
    return chosen;
  }
  /// Keys are hot and can be read, values are cold and cannot.
  void lose_values() {
    for (std::size_t i = 0; i < kKeys; ++i) index_->insert(key_of(i), std::string(500, 'v'));
    while (heap::usage_of(heap::kind::cold, heap::residency::left_out).objects < 2 * kKeys)
      collector_.run_window();
    {
      access inside;
      for (std::size_t i = 0; i < kKeys; ++i) ASSERT_TRUE(index_->contains(inside, key_of(i)));
    }
    collector_.run_window();
    ASSERT_TRUE(testing_help::truncate_cold(path, 0));
  }

  void lose_keys() {
    testing_help::truncate_cold(path, kRangeBytes);
    while (heap::usage_of(heap::kind::cold, heap::residency::left_out).objects < 2 * kKeys)
      collector_.run_window();
    ASSERT_TRUE(testing_help::truncate_cold(path, 0));
  }

  static inline std::string path;
  std::unique_ptr<any_index> index_{std::move(*make(GetParam(), management::on))};
  collector::object_collector collector_{chosen()};
};

TEST_P(IndexUnreadable, ValuesNeedNotBeReadToBeErased) {
  lose_values();
  const std::uint64_t before = heap::lost_reads();
  for (std::size_t i = 0; i < kKeys; ++i) ASSERT_TRUE(index_->erase(key_of(i))) << i;
  EXPECT_EQ(index_->size(), 0u);
  EXPECT_EQ(heap::lost_reads(), before);
  EXPECT_TRUE(index_->is_valid());
}

TEST_P(IndexUnreadable, ClearingReadsNothing) {
  lose_values();
  lose_keys();
  const std::uint64_t before = heap::lost_reads();
  index_->clear();
  EXPECT_EQ(index_->size(), 0u);
  EXPECT_EQ(heap::lost_reads(), before);
  EXPECT_TRUE(index_->is_valid());
}

std::string test_name(const testing::TestParamInfo<std::string_view>& info) {
  std::string name(info.param);
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, IndexUnreadable, testing::ValuesIn(names()), test_name);

}  // namespace
}  // namespace isotherm::index
