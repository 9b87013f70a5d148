// Nothing lost: threads replace, read and destroy checksummed values while a collector moves
// everything all the time, by either protocol.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "collector/collector.hpp"
#include "guide/guide.hpp"

namespace isotherm::collector {
namespace {

/// `length` bytes that start with their own checksum.
std::string sealed(base::random& random, std::size_t length) {
  std::string content(8 + length, '\0');
  std::uint64_t sum = length;
  for (std::size_t i = 8; i < content.size(); ++i) {
    content[i] = static_cast<char>(random());
    sum = base::mix64(sum ^ static_cast<unsigned char>(content[i]));
  }
  std::memcpy(content.data(), &sum, 8);
  return content;
}

bool is_intact(std::string_view content) {
  std::uint64_t sum = content.size() - 8, stored;
  std::memcpy(&stored, content.data(), 8);
  for (std::size_t i = 8; i < content.size(); ++i) {
    sum = base::mix64(sum ^ static_cast<unsigned char>(content[i]));
  }
  return sum == stored;
}

/// A node as an index has it: retired when unlinked, its guide goes with it.
struct node {
  explicit node(owned<bytes>&& value) : held(std::move(value)) {}
  guide<bytes> held;
};

class table {
 public:
  /// Mostly uses an eighth of the cells that goes round with the windows: however long these take,
  /// some cells go unused and move to COLD, and others come back. But any cell may be used while it
  /// moves.
  void run(std::uint64_t seed, int operations, const std::atomic<std::uint64_t>& windows) {
    base::random random(seed);
    for (int i = 0; i < operations; ++i) {
      if (i % 256 == 0)
        sync::reclaim_ready();  // else windows are long, with the guides of old nodes
      const std::size_t eighth = cells_.size() / 8;
      auto& cell =
          random.below(64) == 0
              ? cells_[random.below(cells_.size())]
              : cells_[(windows.load() * (eighth / 2) + random.below(eighth)) % cells_.size()];
      switch (random.below(8)) {
        case 0:
          replace_node(cell, random);
          break;
        case 1:
          remove_node(cell);
          break;
        case 2:
        case 3:
          replace_value(cell, random);
          break;
        default:
          verify(cell, random);
      }
    }
  }
  int mismatches() const { return mismatches_; }
  ~table() {
    for (auto& cell : cells_) remove_node(cell);
    sync::reclaim_ready();
  }

 private:
  using cell = std::atomic<node*>;

  static void retire_node(node* old) {
    if (old) sync::retire(old, [](void* n) noexcept { delete static_cast<node*>(n); });
  }
  void replace_node(cell& c, base::random& random) {
    const scope inside;
    retire_node(c.exchange(new node(make_bytes(sealed(random, random.below(300)))),
                           std::memory_order_acq_rel));
  }
  void remove_node(cell& c) {
    const scope inside;
    retire_node(c.exchange(nullptr, std::memory_order_acq_rel));
  }
  void replace_value(cell& c, base::random& random) {
    const scope inside;
    if (node* found = c.load(std::memory_order_acquire)) {
      EXPECT_TRUE(
          found->held.replace(inside, make_bytes(found->held, sealed(random, random.below(300)))));
    }
  }
  void verify(cell& c, base::random& random) {
    const scope inside;
    if (node* found = c.load(std::memory_order_acquire)) {
      const bytes* value =
          random.below(2) == 0 ? found->held.get(inside) : found->held.peek(inside);
      if (!is_intact(value->view())) ++mismatches_;
    }
  }

  std::array<cell, 256> cells_{};
  std::atomic<int> mismatches_{0};
};

class Stress : public testing::TestWithParam<std::string> {};

TEST_P(Stress, NothingIsLostWhileEverythingMoves) {
  const std::uint64_t seed = testing::UnitTest::GetInstance()->random_seed() + 1u;
  SCOPED_TRACE("seed " + std::to_string(seed));
  options chosen;
  chosen.policy = policy_name::published;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  chosen.protocol = GetParam();
  chosen.batch_bytes = 64 << 10;
  object_collector collector(chosen);
  table shared;
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> moved{0}, windows{0};
  std::thread mover([&] {
    while (!done) {
      const auto window = collector.run_window();
      moved += window.promoted.objects + window.demoted.objects + window.compacted.objects;
      ++windows;
    }
  });
  std::vector<std::thread> workers;
  for (std::uint64_t t = 0; t < 4; ++t) {
    workers.emplace_back([&shared, &moved, &windows, seed, t] {
      // Runs until the collector has moved hundreds of objects.
      for (std::uint64_t round = 0; round == 0 || moved < 500; ++round) {
        shared.run(seed * 100'003 + round * 4 + t, 20'000, windows);
      }
    });
  }
  for (auto& worker : workers) worker.join();
  done = true;
  mover.join();
  EXPECT_EQ(shared.mismatches(), 0);
}

INSTANTIATE_TEST_SUITE_P(Protocols, Stress, testing::Values("counts", "veto"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace isotherm::collector
