// The cost of a dereference: a raw pointer, a guide, and a guide while a migration epoch is active
// (OBASE 4.3; the goal is 1 ns over raw in L1).
//
//   chase   each object names the next: the latency of a dereference
//   sum     objects one after the other, independent: its throughput
//
// Sizes: objects of a cache line that fill half of L1, half of L2, or far more than any cache.
// The epoch's scopes close now and then (kScopeSteps), as operations of an index do, so that counts
// are given back and do not saturate.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "base/check.hpp"
#include "base/random.hpp"
#include "guide/guide.hpp"
#include "sync/epoch.hpp"
#include "sync/scope.hpp"

namespace isotherm {
namespace {

constexpr std::size_t kScopeSteps = 16;  ///< dereferences in a scope: an operation's worth

struct object {
  std::uint64_t next = 0;
  std::uint64_t value = 1;
  std::uint64_t filling[6] = {};
};
static_assert(sizeof(object) == 64);

/// One cycle through all objects in random order.
std::vector<std::uint64_t> random_cycle(std::size_t count) {
  std::vector<std::uint64_t> order(count), next(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), base::random(42));
  for (std::size_t i = 0; i < count; ++i) next[order[i]] = order[(i + 1) % count];
  return next;
}

struct raw_side {
  using holder = std::unique_ptr<object>;
  static holder make(std::uint64_t next) { return std::make_unique<object>(object{.next = next}); }
  static const object* read(const holder& held, const sync::scope&) { return held.get(); }
};

struct guide_side {
  using holder = guide<object>;
  static holder make(std::uint64_t next) { return make_guide<object>(object{.next = next}); }
  static const object* read(const holder& held, const sync::scope& inside) {
    return held.get(inside);
  }
};

template <class Side>
std::vector<typename Side::holder> make_objects(std::size_t count) {
  std::vector<typename Side::holder> objects;
  for (const std::uint64_t next : random_cycle(count)) objects.push_back(Side::make(next));
  return objects;
}

/// Migration epoch for its lifetime, when `wanted`.
class epoch {
 public:
  explicit epoch(bool wanted) : wanted_(wanted) {
    constexpr std::uint64_t kSecond_us = 1'000'000;
    if (wanted) ISO_CHECK(sync::begin_migration_epoch(kSecond_us), "no scope is open here");
  }
  ~epoch() {
    if (wanted_) sync::end_migration_epoch();
  }
  epoch(const epoch&) = delete;
  epoch& operator=(const epoch&) = delete;

 private:
  bool wanted_;
};

template <class Side, bool in_epoch>
void chase(benchmark::State& state) {
  const auto objects =
      make_objects<Side>(static_cast<std::size_t>(state.range(0)) / sizeof(object));
  const epoch active(in_epoch);
  std::uint64_t at = 0;
  for (auto _ : state) {
    const sync::scope inside;
    for (std::size_t i = 0; i < kScopeSteps; ++i) at = Side::read(objects[at], inside)->next;
    benchmark::DoNotOptimize(at);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kScopeSteps));
}

template <class Side, bool in_epoch>
void sum(benchmark::State& state) {
  const auto objects =
      make_objects<Side>(static_cast<std::size_t>(state.range(0)) / sizeof(object));
  const epoch active(in_epoch);
  std::size_t at = 0;
  for (auto _ : state) {
    const sync::scope inside;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < kScopeSteps; ++i)
      total += Side::read(objects[at + i], inside)->value;
    at = at + 2 * kScopeSteps <= objects.size() ? at + kScopeSteps : 0;
    benchmark::DoNotOptimize(total);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kScopeSteps));
}

void sizes(benchmark::internal::Benchmark* which) {
  which->Arg(16 << 10)->Arg(512 << 10)->Arg(256 << 20)->ArgName("bytes");
}

BENCHMARK(chase<raw_side, false>)->Name("chase/raw")->Apply(sizes);
BENCHMARK(chase<guide_side, false>)->Name("chase/guide")->Apply(sizes);
BENCHMARK(chase<guide_side, true>)->Name("chase/guide_in_epoch")->Apply(sizes);
BENCHMARK(sum<raw_side, false>)->Name("sum/raw")->Apply(sizes);
BENCHMARK(sum<guide_side, false>)->Name("sum/guide")->Apply(sizes);
BENCHMARK(sum<guide_side, true>)->Name("sum/guide_in_epoch")->Apply(sizes);

}  // namespace
}  // namespace isotherm

BENCHMARK_MAIN();
