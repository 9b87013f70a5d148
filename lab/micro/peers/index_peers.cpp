// The indexes, held by plain pointers, beside libraries of the same kind: raw speed without
// management, in one program, over the same keys (docs/benchmarks).
//
//   load      one thread inserts all keys
//   read      Zipfian reads; the value is copied out
//   mixed     half Zipfian reads, half writes of existing keys (YCSB A)
//
// Keys and the order of requests are made before they are timed. Run with
//   --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
// so that a noisy minute hits all alike.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "index/index.hpp"
#include "lab/micro/peers/store.hpp"
#include "lab/workload/generators.hpp"
#include "lab/workload/record.hpp"

namespace isotherm::peers {
namespace {

constexpr std::uint64_t kKeys = 1 << 19;
constexpr std::size_t kKeyBytes = 30, kValueBytes = 100;
constexpr std::int64_t kIterations = 500'000;  ///< of a thread in a run
constexpr std::size_t kRequests = 1 << 20;     ///< drawn before; a power of two

class own_store final : public store {
 public:
  explicit own_store(std::string_view name)
      : index_(std::move(*index::make(name, index::management::off))) {}
  bool read(std::string_view key, char* out) override {
    isotherm::access inside;
    const auto found = index_->find(inside, key);
    if (!found) return false;
    std::memcpy(out, found->data(), found->size());
    return true;
  }
  void write(std::string_view key, std::string_view value) override {
    ISO_CHECK(index_->upsert(key, value) == index::outcome::done, "out of memory");
  }

 private:
  std::unique_ptr<index::any_index> index_;
};

/// All keys, and whom the requests go to.
struct script {
  std::vector<char> keys = std::vector<char>(kKeys * kKeyBytes);
  std::vector<std::uint32_t> requests = std::vector<std::uint32_t>(kRequests);

  script() {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      workload::write_key(i, {keys.data() + i * kKeyBytes, kKeyBytes});
    }
    const workload::key_chooser choose({}, kKeys);
    base::random random(1);
    for (auto& request : requests) request = static_cast<std::uint32_t>(choose(random));
  }
  std::string_view key(std::uint64_t i) const { return {keys.data() + i * kKeyBytes, kKeyBytes}; }
  std::string_view request(std::uint64_t i) const { return key(requests[i % kRequests]); }
};
const script& the_script() {
  static const script made;
  return made;
}

using maker = std::function<std::unique_ptr<store>()>;

void fill(store& into) {
  const std::string value(kValueBytes, 'v');
  for (std::uint64_t i = 0; i < kKeys; ++i) into.write(the_script().key(i), value);
}

void load(benchmark::State& state, const maker& make) {
  for (auto _ : state) {
    std::unique_ptr<store> measured = make();
    measured->enter_thread();
    the_script();
    const auto begin = std::chrono::steady_clock::now();
    fill(*measured);
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    measured->leave_thread();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kKeys));
}

/// A store for all runs of one name: made and filled by the first, kept for the others.
class kept_store {
 public:
  explicit kept_store(maker make) : make_(std::move(make)) {}
  store& get() {
    const std::lock_guard guard(mutex_);
    if (!made_) {
      made_ = make_();
      made_->enter_thread();
      fill(*made_);
      made_->leave_thread();
    }
    return *made_;
  }

 private:
  const maker make_;
  std::mutex mutex_;
  std::unique_ptr<store> made_;
};

void requests(benchmark::State& state, kept_store& kept, unsigned writes_of_256) {
  store& map = kept.get();
  map.enter_thread();
  const script& all = the_script();
  const std::string value(kValueBytes, 'w');
  std::array<char, kValueBytes> out;
  std::uint64_t at = static_cast<std::uint64_t>(state.thread_index()) * 104729, missing = 0;
  base::random random(at + 1);
  for (auto _ : state) {
    const std::string_view key = all.request(at++);
    if (random.below(256) < writes_of_256) {
      map.write(key, value);
    } else {
      missing += !map.read(key, out.data());
      benchmark::DoNotOptimize(out);
    }
  }
  if (missing > 0) state.SkipWithError("keys are missing");
  state.SetItemsProcessed(state.iterations());
  map.leave_thread();
}

void add(const std::string& name, const maker& make) {
  benchmark::RegisterBenchmark(("load/" + name).c_str(), [=](auto& state) { load(state, make); })
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
  const auto kept = std::make_shared<kept_store>(make);
  const std::pair<const char*, unsigned> mixes[] = {{"read/", 0}, {"mixed/", 128}};
  for (const auto& [mix, writes] : mixes) {
    for (int threads : {1, 2}) {
      benchmark::RegisterBenchmark((mix + name).c_str(),
                                   [=](auto& state) { requests(state, *kept, writes); })
          ->Threads(threads)
          ->Iterations(kIterations)
          ->UseRealTime();
    }
  }
}

}  // namespace
}  // namespace isotherm::peers

int main(int argc, char** argv) {
  using namespace isotherm;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  peers::add("oneTBB concurrent_hash_map", &peers::make_tbb);
  peers::add("liburcu lfht", &peers::make_urcu);
  peers::add("absl btree_map (locked)", &peers::make_absl);
  peers::add("std map (locked)", &peers::make_std);
  for (const std::string_view name : index::names()) {
    peers::add(std::string(name), [name] { return std::make_unique<peers::own_store>(name); });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
