// The cost of counting the uses of nodes to a search (SINLK, 6.5.1): none, those of leaves, or of
// all nodes of the path. All nodes are in fast memory, where a search is fastest and the cost
// weighs most. Run it with --benchmark_enable_random_interleaving=true --benchmark_repetitions=20,
// so that what else the machine does falls on all three alike.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "base/random.hpp"
#include "index/index.hpp"
#include "lab/emulation/slow_memory.hpp"
#include "lab/emulation/trees.hpp"
#include "placement/node_memory.hpp"
#include "placement/placer.hpp"
#include "sync/scope.hpp"

namespace isotherm {
namespace {

constexpr std::uint64_t kKeys = 1'000'000;

class fast_placer final : public placement::placer {
  placement::tier choose(std::size_t, const placement::node_place&) noexcept override {
    return placement::tier::fast;
  }
};

/// A key of 8 bytes, in the order of its number.
struct key {
  explicit key(std::uint64_t number) : bytes(__builtin_bswap64(number)) {}
  std::string_view text() const { return {reinterpret_cast<const char*>(&bytes), sizeof bytes}; }
  std::uint64_t bytes;
};

index::any_index& tree(std::string_view name) {
  static fast_placer chooser;
  ISO_CHECK(placement::open_node_memory(), "address space for nodes");
  auto made = lab::make_emulated(name, chooser);
  ISO_CHECK(made, "the index is known");
  for (std::uint64_t i = 0; i < kKeys; ++i) made->index->insert(key(i).text(), key(i).text());
  return *made->index.release();  // for the next repetition
}

void search(benchmark::State& state, std::string_view name) {
  static index::any_index& btree = tree("btree-occ");
  static index::any_index& art = tree("art");
  index::any_index& searched = name == "art" ? art : btree;
  lab::count_uses(static_cast<lab::counting>(state.range(0)));
  base::random random(1);
  for (auto _ : state) {
    access inside;
    const key wanted(random.below(kKeys));
    benchmark::DoNotOptimize(searched.find(inside, wanted.text()));
  }
  state.SetItemsProcessed(state.iterations());
}

void ways(benchmark::internal::Benchmark* which) {
  for (const auto each : {lab::counting::none, lab::counting::leaves, lab::counting::paths}) {
    which->Arg(static_cast<std::int64_t>(each));
  }
  which->ArgName("counted");
}

BENCHMARK_CAPTURE(search, btree, "btree-occ")->Apply(ways);
BENCHMARK_CAPTURE(search, art, "art")->Apply(ways);

}  // namespace
}  // namespace isotherm

BENCHMARK_MAIN();
