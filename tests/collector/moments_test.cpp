// Pitfalls whose harm needs one moment: each test acts between two steps of the protocol, so that
// what the care prevents would happen in every run. Builds without a sanitizer have no such
// moments.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "collector/collector.hpp"
#include "collector/protocol/protocol.hpp"
#include "guide/guide.hpp"
#include "heap/usage.hpp"
#include "sync/epoch.hpp"
#include "sync/steps.hpp"

namespace isotherm::collector {
namespace {

// A scan may clear counts only when no scope that counts is open, or the object would move under
// it.
TEST(Moments, CountsOfAnOpenScopeOutlastTheScan) {
  guide<bytes> g(make_bytes("value"));
  ASSERT_TRUE(sync::begin_migration_epoch(1'000'000));
  std::latch has_it(1), may_leave(1);
  const bytes* held = nullptr;
  std::thread reader([&] {
    const scope inside;
    held = g.get(inside);
    has_it.count_down();
    may_leave.wait();
  });
  has_it.wait();
  sync::end_migration_epoch();
  guides::use_words_for(guides::word_use::counts);
  options chosen;
  chosen.policy = policy_name::published;
  chosen.protocol = "counts";
  chosen.epoch_timeout_us = 1;
  object_collector collector(chosen);
  collector.run_window();
  EXPECT_EQ(guides::count_of(g.slot().load_relaxed()), 1u) << "its object could move now";
  EXPECT_TRUE(g.holds(held));
  may_leave.count_down();
  reader.join();
  EXPECT_EQ(guides::count_of(g.slot().load_relaxed()), 0u);
}

#if defined(ISOTHERM_SANITIZED)
using sync::at_steps;
using sync::step;

class MomentsOf : public testing::TestWithParam<std::string> {};

// Pitfall 1: between the load of a dereference and its read-modify-write the object moves, and its
// old memory is freed.
TEST_P(MomentsOf, ADereferenceGetsTheAddressThatItsMarkFound) {
  guide<bytes> g(make_bytes("value"));
  const auto protocol = *make_protocol(GetParam());
  ASSERT_TRUE(protocol->begin({}, 1'000'000));
  const void* const before = guides::pointer_of(g.slot().load_relaxed());
  auto result = move_result::moot;
  {
    const at_steps between([&](step at, const void*) {
      if (at != step::marking || result != move_result::moot) return;
      std::size_t moved = 0;
      result = protocol->move(g.slot(), g.slot().load_relaxed(),
                              guides::pointer_of(g.slot().load_relaxed()), heap::kind::cold, moved);
    });
    const scope inside;
    const bytes* got = g.get(inside);
    EXPECT_EQ(result, move_result::moved);
    EXPECT_NE(got, before) << "that memory has been freed";
    EXPECT_TRUE(g.holds(got));
    EXPECT_EQ(got->view(), "value");
  }
  protocol->end();
}

INSTANTIATE_TEST_SUITE_P(Protocols, MomentsOf, testing::Values("counts", "veto"),
                         [](const auto& info) { return info.param; });

/// Runs `act` when the collector visits a slot.
template <class Act>
class visitor final : public guides::slot_visitor {
 public:
  explicit visitor(Act act) : act_(std::move(act)) {}
  guides::verdict visit(guides::slot_word& slot) override {
    act_(slot);
    return guides::verdict::keep_due;
  }

 private:
  Act act_;
};

/// A thread that destroys a guide; knows whether it had to wait for the collector's visit.
class destroyer {
 public:
  explicit destroyer(guide<bytes>& g) : g_(g) {}
  ~destroyer() { thread_.join(); }
  void start() {
    thread_ = std::thread([this] {
      g_.reset();
      is_done_ = true;
    });
  }
  /// For the step hook.
  void look(step at, const void* where) {
    if (at == step::awaits_visit && where == &g_.slot()) waits_ = true;
  }
  /// Returns when it either waits or is done.
  void watch() const {
    while (!waits_ && !is_done_) std::this_thread::yield();
  }
  bool waits() const { return waits_; }

 private:
  guide<bytes>& g_;
  std::atomic<bool> waits_{false}, is_done_{false};
  std::thread thread_;
};

// Pitfall 5, one order: the visit has begun.
TEST(Moments, AGuideIsNotDestroyedAmidTheCollectorsVisit) {
  for (const bool whole_granule : {false, true}) {
    guide<bytes> g(make_bytes("value"));
    destroyer other(g);
    const at_steps between([&](step at, const void* where) { other.look(at, where); });
    visitor amid([&](guides::slot_word&) {
      other.start();
      other.watch();
      EXPECT_TRUE(other.waits()) << "the slot is gone while the collector looks at it";
    });
    if (whole_granule) {
      EXPECT_EQ(guides::visit_due(amid), 1u);
    } else {
      EXPECT_TRUE(guides::visit_one(&g.slot(), amid));
    }
  }
}

// Pitfall 5, the other order: the guide went just before the collector said where it is.
TEST(Moments, ADestroyedGuideIsNotVisited) {
  for (const bool whole_granule : {false, true}) {
    guide<bytes> g(make_bytes("value"));
    const at_steps between([&](step at, const void*) {
      if (at == step::visiting) g.reset();
    });
    visitor late([&](guides::slot_word&) { FAIL() << "the slot is gone"; });
    if (whole_granule) {
      EXPECT_EQ(guides::visit_due(late), 0u);
    } else {
      EXPECT_FALSE(guides::visit_one(&g.slot(), late));
    }
  }
}

TEST(Moments, DestroyingAGuideDoesNotWaitForTheCopyOfItsNeighbour) {
  alignas(64) guide<bytes> row[2] = {guide<bytes>(make_bytes("a")), guide<bytes>(make_bytes("b"))};
  destroyer of_neighbour(row[1]);
  const at_steps between([&](step at, const void* where) { of_neighbour.look(at, where); });
  visitor amid([&](guides::slot_word&) {
    of_neighbour.start();
    of_neighbour.watch();
    EXPECT_FALSE(of_neighbour.waits());
  });
  EXPECT_TRUE(guides::visit_one(&row[0].slot(), amid));
}

TEST(Moments, DestroyingAGuideEndsTheCopyOfItsObject) {
  for (const std::string_view name : protocol_names()) {
    SCOPED_TRACE(name);
    guide<bytes> g(make_bytes(std::string(10 * kCopiedPieceBytes, 'x')));
    const auto protocol = *make_protocol(name);
    ASSERT_TRUE(protocol->begin({}, 1'000'000));
    destroyer other(g);
    int pieces = 0;
    const at_steps between([&](step at, const void* where) {
      other.look(at, where);
      if (at != step::copied_piece || ++pieces > 1) return;
      other.start();
      other.watch();
    });
    visitor mover([&](guides::slot_word& slot) {
      std::size_t moved = 0;
      EXPECT_EQ(protocol->move(slot, slot.load_acquire(), guides::pointer_of(slot.load_acquire()),
                               heap::kind::cold, moved),
                move_result::vetoed);
    });
    EXPECT_TRUE(guides::visit_one(&g.slot(), mover));
    EXPECT_EQ(pieces, 1) << "its owner waits for what nobody wants";
    protocol->end();
  }
  EXPECT_EQ(heap::usage_of(heap::kind::cold, heap::residency::left_out).objects, 0u);
}
#endif

}  // namespace
}  // namespace isotherm::collector
