// A hash map whose values the collector may move: a std::unordered_map with a guide in each node.
// Readers keep to one key in ten; window by window the others leave for COLD, and the program
// prints where its bytes live.
#include <fmt/core.h>

#include <isotherm/guide.hpp>
#include <isotherm/runtime.hpp>
#include <isotherm/scope.hpp>
#include <latch>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace {

class movable_map {
 public:
  void put(const std::string& key, std::string_view value) {
    const std::unique_lock alone(mutex_);
    const isotherm::scope inside;
    auto& guide = guides_[key];  // its node never moves, also when the table grows
    guide.replace(inside, isotherm::make_bytes(guide, value));
  }
  std::optional<std::string> get(const std::string& key) const {
    const std::shared_lock shared(mutex_);
    const isotherm::scope inside;  // closes before the lock is left: no node dies under a scope
    const auto at = guides_.find(key);
    if (at == guides_.end() || at->second.is_null()) return std::nullopt;
    return std::string(at->second.get(inside)->view());
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, isotherm::guide<isotherm::bytes>> guides_;
};

void print_heaps(const isotherm::collector::window_statistics& seen) {
  const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  fmt::print(
      "window {:2}: NEW {:5.1f} MiB  HOT {:5.1f} MiB  COLD {:5.1f} MiB  utilization {:3.0f}%\n",
      seen.window, mib(seen.heaps[0].bytes), mib(seen.heaps[1].bytes), mib(seen.heaps[2].bytes),
      100 * seen.page_utilization);
}

}  // namespace

int main() {
  constexpr int kKeys = 50'000;
  movable_map map;
  for (int i = 0; i < kKeys; ++i) map.put(std::to_string(i), std::string(1000, 'a' + i % 26));

  isotherm::collector::object_collector collector({.window_seconds = 0.25});
  std::latch windows_left(8);
  collector.on_window([&](const auto& seen) {
    print_heaps(seen);
    if (!windows_left.try_wait()) windows_left.count_down();
  });
  if (const auto started = collector.start(); !started) {
    fmt::print(stderr, "movable_map: {}\n", started.error().message);
    return 1;
  }
  while (!windows_left.try_wait()) {
    for (int i = 0; i < kKeys; i += 10) map.get(std::to_string(i));
  }
  collector.stop();

  for (int i = 0; i < kKeys; ++i) {  // wherever it lies by now, every value is what it was
    if (map.get(std::to_string(i)) != std::string(1000, 'a' + i % 26)) return 1;
  }
}
