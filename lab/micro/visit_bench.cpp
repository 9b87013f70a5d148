// The cost of SINLK's visits of leaves (placement/sinlk.cpp): a visit of all leaves of a tree of
// two million keys, which were inserted in no order. Keys are dense, so that nodes are full, or
// sparse, so that art's lowest nodes have a few leaves each.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/random.hpp"
#include "index/index.hpp"
#include "placement/node_memory.hpp"
#include "placement/placed_tree.hpp"
#include "placement/placer.hpp"
#include "sync/scope.hpp"

namespace isotherm {
namespace {

constexpr std::uint64_t kKeys = std::uint64_t{1} << 21;

class fast_placer final : public placement::placer {
  placement::tier choose(std::size_t, const placement::node_place&) noexcept override {
    return placement::tier::fast;
  }
};

enum class keys : std::uint8_t { dense, sparse };

index::placed_index make_tree(std::string_view name, keys kind) {
  static fast_placer chooser;
  ISO_CHECK(placement::open_node_memory(), "address space for nodes");
  auto made = index::make_placed(name, index::management::off, chooser);
  ISO_CHECK(made, "the index is known");
  constexpr std::uint64_t kStride = 0x9e3779b1;  // odd: each number comes once
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const std::uint64_t number = i * kStride % kKeys;
    const std::uint64_t bytes =
        __builtin_bswap64(kind == keys::dense ? number : base::mix64(number));
    const std::string_view key(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    made->index->insert(key, key);
  }
  return std::move(*made);
}

void visit(benchmark::State& state, std::string_view name, keys kind) {
  const index::placed_index tree = make_tree(name, kind);
  std::uint64_t leaves = 0, uses = 0;
  for (auto _ : state) {
    const sync::scope inside;
    std::string cursor;
    tree.nodes->visit_leaves(inside, cursor, [&](const placement::visited_leaf& leaf) {
      ++leaves;
      uses += leaf.uses.value();
      return true;
    });
  }
  benchmark::DoNotOptimize(uses);
  state.counters["leaf"] = benchmark::Counter(
      static_cast<double>(leaves), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(visit, art_dense, "art", keys::dense)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(visit, art_sparse, "art", keys::sparse)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(visit, btree_dense, "btree-occ", keys::dense)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(visit, masstree_dense, "masstree", keys::dense)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(visit, masstree_sparse, "masstree", keys::sparse)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace isotherm

BENCHMARK_MAIN();
