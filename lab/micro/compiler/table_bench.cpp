// The cost of an operation of a hash table, per key, for the kind of table that this program is
// linked with (table.hpp): read of values, few and many, and replacement of values.
#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "lab/micro/compiler/table.hpp"

namespace {

constexpr std::size_t kBatch = 1 << 16;  ///< operations between two looks at the clock

class filled_table {
 public:
  struct batch {
    std::vector<std::uint64_t> keys;
    std::uint64_t sum;  ///< of their values
  };

  explicit filled_table(std::uint64_t keys) : batches_(16) {
    std::vector<std::uint64_t> all(keys);
    std::iota(all.begin(), all.end(), 0);
    made_ = tables::make_table(all);
    isotherm::base::random random(42);
    for (batch& each : batches_) {
      each.keys.resize(kBatch);
      for (std::uint64_t& key : each.keys) key = random.below(keys);
      each.sum = std::accumulate(each.keys.begin(), each.keys.end(), std::uint64_t{0});
    }
  }
  tables::table& operator*() const { return *made_; }

  /// Keys of the table, in random order.
  const batch& next_batch() { return batches_[++last_ % batches_.size()]; }

 private:
  tables::table_pointer made_;
  std::vector<batch> batches_;
  std::size_t last_ = 0;
};

void get(benchmark::State& state) {
  filled_table all(static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) {
    const auto& batch = all.next_batch();
    if (tables::sum_of(*all, batch.keys) != batch.sum) {
      state.SkipWithError("a value is not what was put there");
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

void put(benchmark::State& state) {
  filled_table all(static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) tables::put_all(*all, all.next_batch().keys);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

// 64 bytes a value: some in the caches of a core, and more than the last cache has room for.
BENCHMARK(get)->Arg(2000)->Arg(1'000'000)->ArgName("keys");
BENCHMARK(put)->Arg(2000)->ArgName("keys");

}  // namespace

BENCHMARK_MAIN();
