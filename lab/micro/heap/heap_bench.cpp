// The cost of an object: allocate, write and free, by heap and number of threads; and how densely
// a heap packs objects of the papers' size. malloc stands beside for scale.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "heap/node.hpp"
#include "heap/object.hpp"
#include "heap/usage.hpp"

namespace isotherm::heap {
namespace {

constexpr std::size_t kWindow = 256;  // objects alive at a time in each thread

template <class Allocate, class Free>
void churn(benchmark::State& state, Allocate make, Free drop) {
  std::array<void*, kWindow> alive{};
  std::size_t next = 0;
  for (auto _ : state) {
    void*& slot = alive[next++ % kWindow];
    if (slot != nullptr) drop(slot);
    slot = make();
    benchmark::DoNotOptimize(slot);
  }
  for (void* object : alive) {
    if (object != nullptr) drop(object);
  }
  state.SetItemsProcessed(state.iterations());
}

void allocate_and_free(benchmark::State& state, kind where) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  churn(state, [=] { return allocate(where, bytes); }, [](void* object) { deallocate(object); });
}

void allocate_and_free_node(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  churn(state, [=] { return allocate_node(bytes); }, [](void* node) { deallocate_node(node); });
}

void allocate_and_free_malloc(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  churn(state, [=] { return std::malloc(bytes); }, [](void* block) { std::free(block); });
}

/// Object bytes per resident byte, 64 MiB of objects of one size.
void density(benchmark::State& state, kind where) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    const usage before = usage_of(where);
    std::vector<void*> objects((std::size_t{64} << 20) / bytes);
    for (void*& object : objects) {
      object = allocate(where, bytes);
      std::memset(object, 1, bytes);
    }
    const usage after = usage_of(where);
    state.counters["object_share"] =
        static_cast<double>(after.bytes - before.bytes) /
        static_cast<double>(after.resident_bytes - before.resident_bytes);
    for (void* object : objects) deallocate(object);
    trim();
  }
}

BENCHMARK_CAPTURE(allocate_and_free, new, kind::newborn)
    ->Arg(16)
    ->Arg(100)
    ->Arg(1028)
    ->ThreadRange(1, 4);
BENCHMARK_CAPTURE(allocate_and_free, hot, kind::hot)
    ->Arg(16)
    ->Arg(100)
    ->Arg(1028)
    ->ThreadRange(1, 4);
BENCHMARK(allocate_and_free_node)->Arg(64)->ThreadRange(1, 4);
BENCHMARK(allocate_and_free_malloc)->Arg(16)->Arg(100)->Arg(1028)->ThreadRange(1, 4);
BENCHMARK_CAPTURE(density, new, kind::newborn)->Arg(1028)->Iterations(1);
BENCHMARK_CAPTURE(density, hot, kind::hot)->Arg(1028)->Iterations(1);

}  // namespace
}  // namespace isotherm::heap

BENCHMARK_MAIN();
