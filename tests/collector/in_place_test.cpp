// Writes in place beside a collector that moves everything all the time: none is lost, and
// ThreadSanitizer has nothing to say about the copies that were in flight.
#include <gtest/gtest.h>
#include <isotherm/guide.hpp>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "collector/collector.hpp"

namespace isotherm::collector {
namespace {

struct account {
  std::uint64_t changes = 0;
  std::uint32_t low = 0;
  std::array<std::uint8_t, 3> digits{};
  double half = 0;
  bool agrees() const {
    return low == static_cast<std::uint32_t>(changes) &&
           digits[1] == static_cast<std::uint8_t>(changes) &&
           half == static_cast<double>(changes) / 2;
  }
};

struct cell {
  std::mutex lock;  // towards the other writers, not the collector
  guide<account> held = make_guide<account>();
  void change() {
    const std::lock_guard alone(lock);
    const scope inside;
    account* now = held.get(inside);
    const std::uint64_t changes = now->changes + 1;
    write_in_place(now->changes, changes);
    write_in_place(now->low, static_cast<std::uint32_t>(changes));
    write_in_place(now->digits[1], static_cast<std::uint8_t>(changes));
    write_in_place(now->half, static_cast<double>(changes) / 2);
  }
};

class InPlace : public testing::TestWithParam<std::string> {};

TEST_P(InPlace, NoWriteIsLostWhileEverythingMoves) {
  const std::uint64_t seed = testing::UnitTest::GetInstance()->random_seed() + 1u;
  SCOPED_TRACE("seed " + std::to_string(seed));
  options chosen;
  chosen.policy = policy_name::published;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  chosen.protocol = GetParam();
  chosen.batch_bytes = 16 << 10;
  object_collector collector(chosen);
  std::vector<cell> cells(512);
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> moved{0}, windows{0};
  std::thread mover([&] {
    while (!done) {
      const auto window = collector.run_window();
      moved += window.promoted.objects + window.demoted.objects + window.compacted.objects;
      ++windows;
    }
  });
  // Mostly cells of an eighth that goes round with the windows: however long these take, some cells
  // go unused and move to COLD, and others come back. But any cell may be written while it moves.
  const auto choose = [&](base::random& random) {
    const std::size_t eighth = cells.size() / 8;
    if (random.below(64) == 0) return random.below(cells.size());
    return (windows.load() * (eighth / 2) + random.below(eighth)) % cells.size();
  };
  std::atomic<std::uint64_t> made{0};
  std::vector<std::thread> writers;
  for (std::uint64_t t = 0; t < 3; ++t) {
    writers.emplace_back([&, t] {
      base::random random(seed * 1009 + t);
      std::uint64_t mine = 0;
      for (; mine < 100'000 || moved < 10'000; ++mine) cells[choose(random)].change();
      made += mine;
    });
  }
  for (auto& writer : writers) writer.join();
  done = true;
  mover.join();

  std::uint64_t kept = 0;
  const scope inside;
  for (const cell& each : cells) {
    const account& now = *each.held.get(inside);
    EXPECT_TRUE(now.agrees());
    EXPECT_EQ(now.digits[0] + now.digits[2], 0);  // beside what was written
    kept += now.changes;
  }
  EXPECT_EQ(kept, made);
}

INSTANTIATE_TEST_SUITE_P(Protocols, InPlace, testing::Values("counts", "veto"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace isotherm::collector
