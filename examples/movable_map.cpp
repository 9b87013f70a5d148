// A hash map whose values the collector may move: a std::unordered_map with a guide in each node.
// Readers keep to one key in ten; window by window the others leave for COLD.
#include <cstdio>
#include <isotherm/guide.hpp>
#include <isotherm/runtime.hpp>
#include <isotherm/scope.hpp>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

class movable_map {
 public:
  /// False when there is no memory for the value: the key keeps the one it has.
  [[nodiscard]] bool put(const std::string& key, std::string_view value) {
    const std::unique_lock alone(mutex_);
    const isotherm::scope inside;
    auto& guide = guides_[key];  // its node never moves, also when the table grows
    return guide.replace(inside, isotherm::make_bytes(guide, value));
  }
  std::string get(const std::string& key) const {
    const std::shared_lock shared(mutex_);
    const isotherm::scope inside;  // closes before the lock is left: no node dies under a scope
    return std::string(guides_.at(key).get(inside)->view());
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, isotherm::guide<isotherm::bytes>> guides_;
};

static void print_heaps(const isotherm::collector::window_statistics& seen) {
  using isotherm::heap::kind;
  const auto mib = [&](kind heap) { return seen.heaps[heap].bytes >> 20; };
  std::printf("window %2lu: NEW %3lu  HOT %3lu  COLD %3lu MiB, utilization %3.0f%%\n", seen.window,
              mib(kind::newborn), mib(kind::hot), mib(kind::cold), 100 * seen.page_utilization);
}

int main() {
  constexpr int kKeys = 50'000;
  const auto value_of = [](int i) { return std::string(1000, static_cast<char>('a' + i % 26)); };
  movable_map map;
  for (int i = 0; i < kKeys; ++i) {
    if (!map.put(std::to_string(i), value_of(i))) {
      return std::fputs("movable_map: out of memory\n", stderr), 1;
    }
  }

  isotherm::collector::object_collector collector({.window_seconds = 0.25});
  std::latch windows_left(8);
  collector.on_window([&](const auto& seen) {
    print_heaps(seen);
    if (!windows_left.try_wait()) windows_left.count_down();
  });
  if (const auto started = collector.start(); !started) {
    return std::fprintf(stderr, "movable_map: %s\n", started.error().message.c_str()), 1;
  }
  while (!windows_left.try_wait()) {
    for (int i = 0; i < kKeys; i += 10) map.get(std::to_string(i));
  }
  collector.stop();
  for (int i = 0; i < kKeys; ++i) {  // wherever it lies by now, every value is what it was
    if (map.get(std::to_string(i)) != value_of(i)) return 1;
  }
}
