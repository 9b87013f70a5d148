#include "guide/soda.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "base/thread_state.hpp"
#include "guide/registry.hpp"
#include "sync/retire.hpp"

namespace isotherm::guides {
namespace {

/// Remembers what it saw and answers with one verdict.
struct recorder final : slot_visitor {
  explicit recorder(verdict a = verdict::keep_due) : answer(a) {}
  verdict visit(slot_word& slot) override {
    seen.insert(&slot);
    return answer;
  }
  std::multiset<slot_word*> seen;
  verdict answer;
};

/// Slots that leave SODA when they go.
struct slots_for_test {
  explicit slots_for_test(std::size_t n) : words(n) {
    for (auto& word : words) register_slot(&word);
  }
  ~slots_for_test() {
    for (auto& word : words) unregister_slot(&word);
  }
  std::vector<slot_word> words;
};

TEST(Soda, VisitsEachRegisteredSlotOnce) {
  slots_for_test slots(1000);
  for (auto& word : slots.words) register_slot(&word);  // idempotent
  recorder visitor;
  EXPECT_EQ(visit_due(visitor), 1000u);
  for (auto& word : slots.words) EXPECT_EQ(visitor.seen.count(&word), 1u);
  unregister_slot(&slots.words[500]);
  recorder again;
  visit_due(again);
  EXPECT_EQ(again.seen.count(&slots.words[500]), 0u);
  EXPECT_EQ(again.seen.size(), 999u);
}

TEST(Soda, ASlotAtRestIsSkippedUntilReported) {
  slots_for_test slots(10);
  for (auto& word : slots.words) word.store_relaxed(make_word(0x1000, heap::kind::cold, 16));
  recorder rests(verdict::drop_due);
  EXPECT_EQ(visit_due(rests), 10u);
  recorder none;
  EXPECT_EQ(visit_due(none), 0u);
  report_cold_access(&slots.words[4]);
  recorder one;
  EXPECT_EQ(visit_due(one), 1u);
  EXPECT_EQ(one.seen.count(&slots.words[4]), 1u);
  recorder all;
  EXPECT_EQ(visit_registered(all), 10u);
}

TEST(Soda, AnAccessBetweenVerdictAndDropIsNotLost) {
  slots_for_test slots(1);
  slot_word& word = slots.words[0];
  word.store_relaxed(make_word(0x1000, heap::kind::cold, 16));
  // The thread's dereference comes while the collector decides that the object rests.
  struct meddler final : slot_visitor {
    verdict visit(slot_word& slot) override {
      slot.store_seq_cst(marked(slot.load_relaxed()));
      report_cold_access(&slot);
      return verdict::drop_due;
    }
  } meddler;
  visit_due(meddler);
  recorder next;
  EXPECT_EQ(visit_due(next), 1u) << "the report was overwritten by the drop";
}

TEST(Soda, VisitOneKnowsWhenTheGuideIsGone) {
  slots_for_test slots(2);
  recorder visitor;
  EXPECT_TRUE(visit_one(&slots.words[0], visitor));
  unregister_slot(&slots.words[0]);
  EXPECT_FALSE(visit_one(&slots.words[0], visitor));
  EXPECT_EQ(visitor.seen.size(), 1u);
}

TEST(Soda, EmptyBlocksAreGivenBack) {
  const std::size_t before = soda_bytes();
  {
    slots_for_test slots(std::size_t{1} << 20);  // 8 MiB of slots: several blocks
    EXPECT_GT(soda_bytes(), before);
    EXPECT_EQ(registered_slots(), slots.words.size());
  }
  EXPECT_GE(free_empty_blocks(), 3u);
  sync::reclaim_ready();
  EXPECT_EQ(registered_slots(), 0u);
  slots_for_test again(100);  // a block may come back at the same addresses
  recorder visitor;
  EXPECT_EQ(visit_due(visitor), 100u);
}

// A visit may last for as long as a disk takes. A destroyer that span, or was not woken, would not
// let the test end.
TEST(Soda, WhoWaitsForAVisitSleepsUntilItIsOver) {
  struct sitter final : slot_visitor {
    verdict visit(slot_word& slot) override {
      destroyer = std::thread([this, &slot] {
        tid = ::gettid();
        unregister_slot(&slot);
        is_done = true;
      });
      while (tid == 0 || testing_help::state_of(tid) != 'S') std::this_thread::yield();
      EXPECT_FALSE(is_done) << "the slot is gone while the collector looks at it";
      return verdict::keep_due;
    }
    std::thread destroyer;
    std::atomic<pid_t> tid{0};
    std::atomic<bool> is_done{false};
  } visitor;
  slots_for_test slots(1);
  EXPECT_TRUE(visit_one(&slots.words[0], visitor));
  visitor.destroyer.join();
}

// Pitfall 5: after unregister_slot() has returned, the collector neither reads nor writes the
// slot. The visitor writes what it is shown; the owners check that their slot stays as they left
// it.
TEST(Soda, StressDestructionExcludesTheCollectorsVisit) {
  struct scribbler final : slot_visitor {
    verdict visit(slot_word& slot) override {
      slot.store_relaxed(slot.load_relaxed() + 1);
      return verdict::keep_due;
    }
  };
  std::atomic<bool> done{false};
  std::thread collector([&done] {
    scribbler visitor;
    while (!done.load(std::memory_order_relaxed)) {
      visit_due(visitor);
      free_empty_blocks();
      sync::reclaim_ready();
    }
  });
  std::atomic<int> written_after{0};
  std::vector<std::thread> owners;
  for (int t = 0; t < 3; ++t) {
    owners.emplace_back([&written_after] {
      std::vector<slot_word> mine(200);
      for (int round = 0; round < 300; ++round) {
        for (auto& slot : mine) register_slot(&slot);
        for (auto& slot : mine) {
          unregister_slot(&slot);
          slot.store_relaxed(7);
        }
        for (auto& slot : mine) written_after += slot.load_relaxed() != 7;
      }
    });
  }
  for (auto& owner : owners) owner.join();
  done = true;
  collector.join();
  EXPECT_EQ(written_after, 0);
}

}  // namespace
}  // namespace isotherm::guides
