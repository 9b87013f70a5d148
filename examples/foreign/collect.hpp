// The means by which the foreign programs are tried: values that tell whether they are whole, and a
// collector beside two threads. Compiled without the plugin nothing moves.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <thread>
#include <vector>
#ifdef ISOTHERM_INSTRUMENTED
#include <isotherm/runtime.hpp>
#endif

namespace foreign {

/// Ordered by its key.
struct reading {
  reading() = default;
  explicit reading(std::uint64_t of) : key(of), check(~of) {}
  bool is_intact() const { return check == ~key; }

  std::uint64_t key = 0, check = ~std::uint64_t{0};
  char payload[80] = {};
};
inline bool operator<(const reading& a, const reading& b) { return a.key < b.key; }
inline bool operator==(const reading& a, const reading& b) { return a.key == b.key; }
inline std::ostream& operator<<(std::ostream& to, const reading& r) { return to << r.key; }

/// Windows one after the other until values have often moved in both directions.
inline void collect() {
#ifdef ISOTHERM_INSTRUMENTED
  constexpr std::uint64_t kEnough = 2000;
  isotherm::collector::options options;
  options.window_seconds = 0.001;
  options.policy = isotherm::collector::policy_name::published;
  options.cold_threshold = 1;
  options.adaptive_threshold = false;
  isotherm::collector::object_collector collector(options);
  std::uint64_t promoted = 0, demoted = 0;
  while (promoted < kEnough || demoted < kEnough) {
    const auto seen = collector.run_window();
    promoted += seen.promoted.objects;
    demoted += seen.demoted.objects;
  }
  std::printf("%lu values promoted, %lu demoted\n", promoted, demoted);
#endif
}

/// Calls each user's step(), in threads of their own, while collect() runs, and `steps` times at
/// least.
template <class User>
void run_beside_collector(std::vector<User>& users, std::uint64_t steps) {
  std::atomic<bool> is_collecting{true};
  std::vector<std::jthread> threads;
  for (User& each : users) {
    threads.emplace_back([&each, &is_collecting, steps] {
      for (std::uint64_t i = 0; i < steps || is_collecting.load(); ++i) each.step();
    });
  }
  collect();
  is_collecting.store(false);
}

}  // namespace foreign
