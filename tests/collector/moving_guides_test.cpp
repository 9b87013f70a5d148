// Guides that change their places, as in a sorted array, while scopes use what they held.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "collector/collector.hpp"
#include "collector/protocol/protocol.hpp"
#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "sync/epoch.hpp"

namespace isotherm::collector {
namespace {

class MovingGuides : public testing::TestWithParam<std::string> {};

/// Moves the object of `g` to COLD, if it may; the candidates were chosen before this batch began.
move_result move_to_cold(migration_protocol& protocol, const guide<bytes>& g) {
  std::size_t bytes_moved = 0;
  const guides::word seen = g.slot().load_relaxed();
  return protocol.move(g.slot(), seen, guides::pointer_of(seen), heap::kind::cold, bytes_moved);
}

// A scope has an object's address; its guide goes to another slot and another guide comes to its
// own; the collector meets both. One step after the other.
TEST_P(MovingGuides, WhatAScopeHoldsStaysWhenItsGuideMoves) {
  guide<bytes> first(make_bytes("first")), second(make_bytes("second"));
  const auto protocol = *make_protocol(GetParam());
  ASSERT_TRUE(protocol->begin({}, 1'000'000));
  std::latch has_it(1), may_leave(1);
  const bytes* held = nullptr;
  std::thread reader([&] {
    const scope inside;
    held = first.get(inside);
    has_it.count_down();
    may_leave.wait();
    EXPECT_EQ(held->view(), "first");
  });
  has_it.wait();
  std::swap(first, second);
  EXPECT_EQ(move_to_cold(*protocol, second), move_result::vetoed);
  EXPECT_TRUE(second.holds(held)) << "the object left while a scope had its address";
  {
    const scope inside;
    const bytes* mine = first.get(inside);
    may_leave.count_down();  // what the reader counted was in the slot of `first`
    reader.join();
    EXPECT_EQ(move_to_cold(*protocol, first), move_result::vetoed);
    EXPECT_TRUE(first.holds(mine)) << "a scope that closed took another's count back";
  }
  protocol->end();
}

// The pin that a moved guide's object gets lasts until a window in which no scope counts.
TEST_P(MovingGuides, AMovedGuidesObjectMovesAgainInALaterWindow) {
  guide<bytes> from(make_bytes("value")), to;
  const auto protocol = *make_protocol(GetParam());
  ASSERT_TRUE(protocol->begin({}, 1'000'000));
  {
    const scope inside;
    from.get(inside);
    to = std::move(from);
  }
  protocol->end();
  options chosen;
  chosen.policy = policy_name::published;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  chosen.protocol = GetParam();
  object_collector collector(chosen);
  EXPECT_EQ(collector.run_window().promoted.objects, 1u);
  EXPECT_EQ(collector.run_window().demoted.objects, 1u);
}

// The maker of an object has its address before a guide takes it.
TEST_P(MovingGuides, AnObjectStaysForTheScopeThatMadeIt) {
  guide<bytes> replaced(make_bytes("old")), assigned;
  const auto protocol = *make_protocol(GetParam());
  const sync::moving_guard moving;
  ASSERT_TRUE(protocol->begin({}, 1'000'000));
  {
    const scope inside;
    auto one = make_bytes("one"), other = make_bytes("other");
    const bytes *first = one.get(), *second = other.get();
    ASSERT_TRUE(replaced.replace(inside, std::move(one)));
    assigned = guide<bytes>(std::move(other));
    EXPECT_EQ(move_to_cold(*protocol, replaced), move_result::vetoed);
    EXPECT_EQ(move_to_cold(*protocol, assigned), move_result::vetoed);
    EXPECT_TRUE(replaced.holds(first));
    EXPECT_TRUE(assigned.holds(second));
    owned<bytes> late = make_bytes("late");
    EXPECT_FALSE(assigned.compare_replace(inside, first, late));
  }
  // The scope took back what it counted, and no more.
  EXPECT_EQ(guides::count_of(replaced.slot().load_relaxed()), 0u);
  protocol->end();
}

/// A node with a guide, as an index has it, which a copy of itself can replace.
struct node {
  explicit node(owned<bytes>&& object) : held(std::move(object)) {}
  node(relocation how, node& from) : held(how, from.held) {}
  guide<bytes> held;
};

/// Memory for a node whose destructor is not run when another one has taken its place.
struct node_memory {
  alignas(node) std::byte bytes[sizeof(node)];
  node* as_node() { return std::launder(reinterpret_cast<node*>(bytes)); }
};

// A scope reads the old node after its copy took its place: the object stays where it is, although
// the batch's grace period ended before the scope opened and its slots were chosen before that.
TEST(RelocatedGuides, AnObjectThatAScopeReadsInTheOldNodeStays) {
  node_memory old_memory, new_memory;
  node* const old = ::new (&old_memory) node(make_bytes("value"));
  const auto protocol = *make_protocol("veto");
  ASSERT_TRUE(protocol->begin({}, 1'000'000));
  {
    const scope inside;
    node* const copy = ::new (&new_memory) node(relocation{}, *old);
    copy->held.finish_relocation();
    EXPECT_FALSE(guides::is_registered(&old->held.slot()));
    EXPECT_TRUE(guides::is_registered(&copy->held.slot()));
    const bytes* const seen = old->held.get(inside);
    EXPECT_EQ(move_to_cold(*protocol, copy->held), move_result::vetoed);
    EXPECT_TRUE(copy->held.holds(seen));
    EXPECT_EQ(seen->view(), "value");
  }
  protocol->end();
  // A scan and a grace period later it moves.
  options chosen;
  chosen.policy = policy_name::published;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  object_collector collector(chosen);
  std::uint64_t demoted = 0;
  for (int window = 0; window < 3; ++window) demoted += collector.run_window().demoted.objects;
  EXPECT_EQ(demoted, 1u);
  {
    const scope inside;
    EXPECT_EQ(new_memory.as_node()->held->view(), "value");
  }
  std::destroy_at(new_memory.as_node());
}

// COLD objects are not scanned until they are used: a relocated one is, until its lock is gone.
TEST(RelocatedGuides, AColdObjectIsDueUntilItMayMoveAgain) {
  node_memory old_memory, new_memory;
  node* const old = ::new (&old_memory) node(testing_help::bytes_in_cold("value"));
  node* const copy = ::new (&new_memory) node(relocation{}, *old);
  copy->held.finish_relocation();
  EXPECT_TRUE(guides::is_locked(copy->held.slot().load_relaxed()));
  options chosen;
  chosen.policy = policy_name::published;
  object_collector collector(chosen);
  collector.run_window();
  EXPECT_FALSE(guides::is_locked(copy->held.slot().load_relaxed()));
  EXPECT_EQ(guides::heap_of(copy->held.slot().load_relaxed()), heap::kind::cold);
  std::destroy_at(copy);
}

TEST(RelocatedGuides, AnEmptyGuideStaysEmpty) {
  guide<bytes> never_filled;
  guide<bytes> copy(relocation{}, never_filled);
  copy.finish_relocation();
  EXPECT_TRUE(copy.is_null());
  EXPECT_FALSE(guides::is_registered(&copy.slot()));
}

/// A sorted array's way: readers take addresses under a shared lock and use them until their scope
/// closes, a writer shifts the guides, and lets the array grow and shrink, under the exclusive one.
class shifted_array {
 public:
  static constexpr std::size_t kObjects = 64;
  shifted_array() {
    for (std::size_t i = 0; i < kObjects; ++i) array_.emplace_back(make_bytes(value(i)));
  }
  /// Reads objects by pairs; counts those that changed while the scope was open.
  void read(base::random& random, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const scope inside;
      std::array<const bytes*, 4> held;
      std::array<std::string, 4> content;
      {
        const std::shared_lock shared(lock_);
        for (std::size_t k = 0; k < held.size(); ++k) {
          held[k] = array_[random.below(kObjects)].get(inside);
          content[k] = held[k]->view();
        }
      }
      std::this_thread::yield();  // the writer's and the collector's turn
      for (std::size_t k = 0; k < held.size(); ++k) wrong_ += held[k]->view() != content[k];
    }
  }
  void shift() {
    const std::unique_lock alone(lock_);
    std::ranges::rotate(array_, array_.begin() + 1);
    guide<bytes> last = std::move(array_.back());
    array_.pop_back();       // its slot's memory is the next push_back()'s
    array_.shrink_to_fit();  // and so is that of all others
    array_.push_back(std::move(last));
  }
  int wrong() const { return wrong_; }

 private:
  static std::string value(std::size_t i) { return std::string(96, static_cast<char>('!' + i)); }
  std::shared_mutex lock_;
  std::vector<guide<bytes>> array_;
  std::atomic<int> wrong_{0};
};

TEST_P(MovingGuides, StressAShiftedArrayBesideACollector) {
  const std::uint64_t seed = testing::UnitTest::GetInstance()->random_seed() + 1u;
  SCOPED_TRACE("seed " + std::to_string(seed));
  options chosen;
  chosen.policy = policy_name::published;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  chosen.protocol = GetParam();
  object_collector collector(chosen);
  shifted_array array;
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> moved{0};
  std::thread mover([&] {
    while (!done) {
      const auto window = collector.run_window();
      moved += window.promoted.objects + window.demoted.objects;
    }
  });
  std::thread writer([&] {
    while (!done) array.shift();
  });
  std::vector<std::thread> readers;
  for (std::uint64_t t = 0; t < 3; ++t) {
    readers.emplace_back([&array, &moved, seed, t] {
      base::random random(seed * 7 + t);
      while (moved < 500) array.read(random, 100);
    });
  }
  for (auto& reader : readers) reader.join();
  done = true;
  writer.join();
  mover.join();
  EXPECT_EQ(array.wrong(), 0);
}

INSTANTIATE_TEST_SUITE_P(Protocols, MovingGuides, testing::Values("counts", "veto"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace isotherm::collector
