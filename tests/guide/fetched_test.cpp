// Uses of objects that have left DRAM by a thread that does not wait for them.
#include "guide/fetched.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "guide/fetched_objects.hpp"
#include "guide/in_cold.hpp"
#include "guide/in_place.hpp"
#include "guide/soda.hpp"
#include "heap/cold/statistics.hpp"
#include "os/faults.hpp"
#include "sync/epoch.hpp"

namespace isotherm {
namespace {

using heap::kind;
using testing_help::kCopies;
using testing_help::kObjects;
using testing_help::kRecord;
using testing_help::kWait;

constexpr auto complete = access::outcome::complete;

class Fetched : public testing_help::FetchedObjects {};

bool lies_in_a_heap(const void* object) {
  return heap::range_of(kind::newborn).contains(object) ||
         heap::range_of(kind::hot).contains(object) || heap::range_of(kind::cold).contains(object);
}

TEST_F(Fetched, AUseWaitsByDefault) {
  access inside;
  EXPECT_EQ(guides_[5].get(inside)->view(), content(5));
  EXPECT_EQ(inside.result(), complete);
  EXPECT_EQ(heap_of(guides_[5]), kind::hot);
  EXPECT_EQ(guides_[80].get(inside.scope())->view(), content(80));
  EXPECT_EQ(heap_of(guides_[80]), kind::hot);
}

TEST_F(Fetched, AMissIsRecordedOnceAndIsTheOutcome) {
  const std::uint64_t lost = heap::lost_reads();
  access inside(kRecord);
  EXPECT_EQ(inside.result(), complete);
  EXPECT_EQ(guides_[3].get(inside), nullptr);
  EXPECT_EQ(inside.result(), access::outcome::missed);
  EXPECT_EQ(guides_[3].get(inside), nullptr);
  EXPECT_EQ(guides_[50].get(inside), nullptr);
  const auto misses = inside.take_misses();
  EXPECT_EQ(misses.size(), 2u);
  EXPECT_EQ(misses[0].where(), heap::heaps().cold().place_of(address(guides_[3])));
  EXPECT_EQ(inside.missed_bytes(), 0u);
  EXPECT_TRUE(heap::is_out(address(guides_[3])));
  EXPECT_EQ(heap::lost_reads(), lost) << "the disk gives it";
}

TEST_F(Fetched, AnObjectInDramIsNoMiss) {
  guide<bytes> empty, born(make_bytes("new")), in_cold(testing_help::bytes_in_cold("cold"));
  {
    const scope inside;
    guides_[7].get(inside);  // brings it back
  }
  access inside(kRecord, nullptr, kCopies);
  EXPECT_EQ(empty.get(inside), nullptr);
  EXPECT_EQ(born.get(inside)->view(), "new");
  EXPECT_EQ(in_cold.get(inside)->view(), "cold");
  EXPECT_EQ(guides_[7].get(inside)->view(), content(7));
  EXPECT_EQ(inside.result(), complete);
}

TEST_F(Fetched, AnAccessThatMustNotEndInTheMiddleWaitsFromThere) {
  access inside(kRecord);
  EXPECT_EQ(guides_[80].get(inside), nullptr);
  inside.wait_from_here();
  inside.begin();
  EXPECT_EQ(guides_[1].get(inside)->view(), content(1));
  EXPECT_EQ(inside.result(), complete);
  EXPECT_EQ(inside.take_misses().size(), 1u) << "the one before";
}

TEST_F(Fetched, AnAccessIsNoOthersConcern) {
  access outer(kRecord);
  EXPECT_EQ(guides_[3].get(outer), nullptr);
  {
    access inner;
    EXPECT_EQ(guides_[60].get(inner)->view(), content(60));
    EXPECT_EQ(inner.result(), complete);
  }
  outer.begin();
  EXPECT_EQ(guides_[90].get(outer), nullptr);
  EXPECT_EQ(outer.take_misses().size(), 2u);
}

TEST_F(Fetched, TheWeightiestOutcomeCounts) {
  access inside;
  using enum access::outcome;
  for (const auto each : {unreadable, missed, must_wait, disk_silent}) {
    inside.note(each);
    EXPECT_EQ(inside.result(), each);
    EXPECT_TRUE(inside.has_lost());
    EXPECT_EQ(inside.has_missed(), each == missed || each == must_wait);
    inside.note(unreadable);
    EXPECT_EQ(inside.result(), each);
  }
  inside.begin();
  EXPECT_EQ(inside.result(), complete);
}

TEST_F(Fetched, ARenewedAccessHasAnotherScope) {
  access inside;
  const std::uint64_t objects = objects_in(kind::cold);
  ASSERT_TRUE(guides_[9].clear(inside.scope()));
  for (int i = 0; i < 5; ++i) sync::reclaim_ready();
  EXPECT_EQ(objects_in(kind::cold), objects) << "the scope keeps it";
  inside.renew();
  EXPECT_TRUE(scope::is_open());
  sync::reclaim_ready();
  EXPECT_EQ(objects_in(kind::cold), objects - 1);
  inside.close();
  EXPECT_FALSE(scope::is_open());
}

struct counter {
  std::uint64_t value = 0;
};

// Nothing that is stored in COLD would be kept.
TEST_F(Fetched, WhatMayBeWrittenWhereItLiesIsWaitedForAndComesBack) {
  std::vector<guide<counter>> counters;
  std::vector<guide<bytes>> between;
  for (std::uint64_t i = 0; i < 200; ++i) {
    counters.emplace_back(testing_help::object_in_cold<counter>(i));
    between.emplace_back(testing_help::bytes_in_cold("of few bytes"));
  }
  let_leave();
  const auto& cold = heap::heaps().cold();
  const auto place_of = [&cold](const auto& g) {
    return cold.place_of(guides::pointer_of(g.slot().load_relaxed()));
  };
  ASSERT_EQ(place_of(counters[7]), place_of(between[7]));
  fetch(between[7]);
  for (const std::size_t i : {7UL, 8UL, 190UL}) {
    for (const auto may_use : {kCopies, kObjects}) {
      access inside(kRecord, &arrived_, may_use);
      counter* const got = counters[i].get(inside);
      ASSERT_NE(got, nullptr);
      EXPECT_EQ(got->value, i + (may_use == kObjects ? 1000 : 0));
      EXPECT_TRUE(heap::range_of(kind::hot).contains(got));
      EXPECT_EQ(inside.result(), complete);
      EXPECT_TRUE(inside.take_misses().empty());
      write_in_place(got->value, i + 1000);
    }
  }
}

TEST_F(Fetched, ACopyServesWhereTheObjectIsToStay) {
  fetch(guides_[5]);
  auto& policy = ask_policy(std::nullopt);
  const guides::word before = word_of(guides_[5]);
  const std::uint64_t hot = objects_in(kind::hot);
  const use_result got = use(guides_[5], kCopies);
  EXPECT_EQ(got.content, content(5));
  EXPECT_FALSE(lies_in_a_heap(got.object));
  EXPECT_EQ(got.outcome, complete);
  EXPECT_EQ(word_of(guides_[5]), before) << "marked by the miss, and otherwise as it was";
  EXPECT_TRUE(guides::is_accessed(before));
  EXPECT_TRUE(heap::is_out(address(guides_[5])));
  EXPECT_EQ(objects_in(kind::hot), hot);
  EXPECT_EQ(policy.asked, 1);
  EXPECT_EQ(policy.last_bytes, content(5).size());
  EXPECT_EQ(guides::address_of(policy.last_word), guides::address_of(before));
  EXPECT_EQ(policy.came_back, 0);
}

TEST_F(Fetched, ThePolicyIsToldOfWhatAUseBringsBackUnasked) {
  fetch(guides_[5]);
  const auto& policy = ask_policy(std::nullopt);
  EXPECT_EQ(use(guides_[5], kObjects).content, content(5));
  EXPECT_EQ(heap_of(guides_[5]), kind::hot);
  EXPECT_EQ(policy.came_back, 1);
}

TEST_F(Fetched, WhatIsNotedIsBounded) {
  const std::uint64_t kBound = heap::read_limits().noted_bytes;
  access inside(kRecord, nullptr, kCopies);
  for (std::uint64_t i = 0; i <= 2 * kBound / base::kPageBytes; ++i) {
    EXPECT_EQ(guides_[i % 2 == 0 ? 0 : kCount - 1].get(inside), nullptr);
  }
  EXPECT_LE(inside.missed_bytes(), kBound);
  EXPECT_TRUE(inside.has_missed());
}

TEST_F(Fetched, ThePolicyIsToldOfASecondUse) {
  fetch(guides_[5]);
  const auto& policy = ask_policy(std::nullopt);
  use(guides_[5], kCopies);
  EXPECT_EQ(policy.last_before, heap::used_before::no) << "the use that missed is the first one";
  arrived_.clear();
  fetch(guides_[5]);
  use(guides_[5], kCopies);
  EXPECT_EQ(policy.last_before, heap::used_before::yes);
}

TEST_F(Fetched, ALookAheadOfTheUseIsNoUse) {
  fetch(guides_[5]);
  const auto& policy = ask_policy(0x123);
  const use_result got = use(guides_[5], kObjects, access::when_cold::prefetch);
  EXPECT_EQ(got.content, content(5));
  EXPECT_FALSE(lies_in_a_heap(got.object));
  EXPECT_EQ(heap_of(guides_[5]), kind::cold);
  EXPECT_EQ(policy.asked, 0);
}

TEST_F(Fetched, TheObjectComesBackWhereThePolicyAdmitsIt) {
  fetch(guides_[5]);
  ask_policy(0x123);
  const bytes* const before = address(guides_[5]);
  const std::uint64_t hot = objects_in(kind::hot), cold = objects_in(kind::cold);
  {
    const scope outer;  // the old one may be in use here
    const use_result got = use(guides_[5], kCopies);
    EXPECT_EQ(got.content, content(5));
    EXPECT_EQ(got.object, address(guides_[5]));
    EXPECT_EQ(got.outcome, complete);
    sync::reclaim_ready();
    EXPECT_EQ(objects_in(kind::cold), cold);
  }
  const guides::word now = word_of(guides_[5]);
  EXPECT_NE(address(guides_[5]), before);
  EXPECT_EQ(guides::heap_of(now), kind::hot);
  EXPECT_EQ(guides::history_of(now), 0x123u);
  EXPECT_TRUE(guides::is_accessed(now));
  EXPECT_FALSE(guides::is_locked(now));
  EXPECT_EQ(objects_in(kind::hot), hot + 1);
  sync::reclaim_ready();
  EXPECT_EQ(objects_in(kind::cold), cold - 1);
  const use_result again = use(guides_[5], kCopies);
  EXPECT_EQ(again.content, content(5));
  EXPECT_EQ(again.object, address(guides_[5]));
}

TEST_F(Fetched, WithoutAPolicyAllComeBackWithTheirHistory) {
  auto& slot = guides_[5].slot();
  slot.store_relaxed(guides::with_history(slot.load_relaxed(), 0x5a5));
  fetch(guides_[5]);
  EXPECT_EQ(use(guides_[5], kCopies).content, content(5));
  EXPECT_EQ(heap_of(guides_[5]), kind::hot);
  EXPECT_EQ(guides::history_of(word_of(guides_[5])), 0x5a5u);
}

TEST_F(Fetched, WhoeverNeedsTheObjectItselfGetsItWhateverThePolicySays) {
  fetch(guides_[5]);
  ask_policy(std::nullopt);
  const use_result got = use(guides_[5], kObjects);
  EXPECT_EQ(got.content, content(5));
  EXPECT_EQ(got.object, address(guides_[5]));
  EXPECT_EQ(heap_of(guides_[5]), kind::hot);
}

TEST_F(Fetched, TheGuideIsDueForAScanWhenItsObjectCameBack) {
  class forgetting final : public guides::slot_visitor {
    guides::verdict visit(guides::slot_word& slot) override {
      slot.store_relaxed(slot.load_relaxed() & ~guides::kAccessed);
      return guides::verdict::drop_due;
    }
  };
  fetch(guides_[5]);
  forgetting all;
  guides::visit_due(all);
  EXPECT_EQ(guides::visit_due(all), 0u);
  use(guides_[5], kObjects);
  EXPECT_EQ(guides::visit_due(all), 1u);
}

TEST_F(Fetched, AReadServesTheOtherObjectsOfItsPage) {
  fetch(guides_[5]);
  const auto& cold = heap::heaps().cold();
  std::size_t same = 0;
  ask_policy(std::nullopt);
  for (std::size_t i = 0; i < kCount; ++i) {
    const bool is_there = cold.place_of(address(guides_[i])) == cold.place_of(address(guides_[5]));
    const use_result got = use(guides_[i], kCopies);
    EXPECT_EQ(got.content.has_value(), is_there);
    EXPECT_EQ(got.missed, is_there ? 0u : 1u);
    if (is_there) EXPECT_EQ(got.content, content(i));
    same += is_there;
  }
  EXPECT_GE(same, 2u);
}

TEST_F(Fetched, AWriterBetweenMissAndArrivalWins) {
  const std::uint64_t hot = objects_in(kind::hot);
  for (const std::size_t i : {1UL, 20UL, 40UL}) fetch(guides_[i]);
  {
    const scope inside;
    ASSERT_TRUE(guides_[1].replace(inside, make_bytes("another")));
    ASSERT_TRUE(guides_[20].clear(inside));
  }
  guides_[40].reset();
  sync::reclaim_ready();
  EXPECT_EQ(use(guides_[1], kObjects).content, "another");
  for (const std::size_t i : {20UL, 40UL}) {
    const use_result got = use(guides_[i], kObjects);
    EXPECT_EQ(got.object, nullptr);
    EXPECT_EQ(got.outcome, complete) << "the guide is empty";
  }
  EXPECT_EQ(objects_in(kind::hot), hot);
}

// The copy is kept, and so is the meaning of its address.
TEST_F(Fetched, AnotherObjectThatIsOutIsNotTakenForTheOneThatWasRead) {
  fetch(guides_[1]);
  const bytes* const before = address(guides_[1]);
  for (auto& each : guides_) {
    const scope inside;
    ASSERT_TRUE(each.replace(inside, testing_help::bytes_in_cold(std::string(1000, '~'))));
  }
  sync::reclaim_ready();
  for (int i = 0; i < 3000; ++i) {
    guides_.emplace_back(testing_help::bytes_in_cold(std::string(1000, '~')));
  }
  let_leave();
  for (const auto& each : guides_) ASSERT_NE(address(each), before);
  ASSERT_TRUE(heap::is_out(address(guides_[1])));
  const use_result got = use(guides_[1], kCopies);
  EXPECT_EQ(got.object, nullptr);
  EXPECT_EQ(got.missed, 1u);
}

TEST_F(Fetched, WhatAnotherThreadBroughtBackIsUsedWhereItIs) {
  fetch(guides_[5]);
  const bytes* first = nullptr;
  {
    const scope inside;
    first = guides_[5].get(inside);
  }
  const use_result got = use(guides_[5], kCopies);
  EXPECT_EQ(got.object, first);
  EXPECT_EQ(got.object, address(guides_[5]));
  EXPECT_EQ(heap_of(guides_[5]), kind::hot);
}

TEST_F(Fetched, WhereHotIsFullNothingIsLost) {
  fetch(guides_[5]);
  fetch(guides_[60]);
  std::vector<void*> filling;
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{900}}) {
    while (void* const made = heap::allocate(kind::hot, bytes, heap::recycling::none)) {
      filling.push_back(made);
    }
  }
  const use_result copied = use(guides_[5], kCopies);
  EXPECT_EQ(copied.content, content(5));
  EXPECT_EQ(heap_of(guides_[5]), kind::cold);
  EXPECT_FALSE(lies_in_a_heap(copied.object));
  expect_never_given(guides_[60], kObjects);
  const use_result waited = use(guides_[60], kObjects, kWait);
  EXPECT_EQ(waited.object, nullptr);
  EXPECT_EQ(waited.outcome, access::outcome::unreadable);
  EXPECT_EQ(heap_of(guides_[60]), kind::cold);
  for (void* each : filling) heap::deallocate(each, heap::recycling::none);
  EXPECT_EQ(use(guides_[60], kObjects, kWait).content, content(60));
  EXPECT_EQ(heap_of(guides_[60]), kind::hot);
}

TEST_F(Fetched, WhatTheDiskDoesNotGiveIsLostAndNotAskedForAgain) {
  ASSERT_TRUE(testing_help::truncate_cold(testing_help::cold_in_a_file(), 0));
  fetch(guides_[5]);
  for (const auto may_use : {kCopies, kObjects}) {
    const std::uint64_t lost = heap::lost_reads();
    const use_result got = use(guides_[5], may_use);
    EXPECT_EQ(got.object, nullptr);
    EXPECT_EQ(got.outcome, access::outcome::unreadable);
    EXPECT_EQ(heap::lost_reads(), lost + 1);
    EXPECT_EQ(heap_of(guides_[5]), kind::cold);
  }
}

TEST_F(Fetched, WhatTheDiskDoesNotAnswerForIsNullAndIsNotLost) {
  const std::uint64_t lost = heap::lost_reads();
  os::set_fault_hook([](os::io_call call) { return call == os::io_call::read ? ETIME : 0; });
  fetch(guides_[5]);
  os::set_fault_hook({});
  const use_result got = use(guides_[5], kCopies);
  EXPECT_EQ(got.object, nullptr);
  EXPECT_EQ(got.outcome, access::outcome::disk_silent);
  EXPECT_EQ(heap::lost_reads(), lost);
  EXPECT_EQ(use(guides_[60], kCopies).outcome, access::outcome::missed);
}

// The system refuses the read, which says nothing of the pages.
TEST_F(Fetched, WhatTheReaderCannotReadIsWaitedFor) {
  const std::uint64_t lost = heap::lost_reads();
  os::set_fault_hook([](os::io_call call) { return call == os::io_call::read ? EINVAL : 0; });
  fetch(guides_[5]);
  os::set_fault_hook({});
  expect_never_given(guides_[5], kCopies);
  const use_result got = use(guides_[5], kCopies, kWait);
  EXPECT_EQ(got.content, content(5));
  EXPECT_EQ(got.object, address(guides_[5]));
  EXPECT_EQ(heap_of(guides_[5]), kind::hot);
  EXPECT_EQ(got.outcome, complete);
  EXPECT_EQ(heap::lost_reads(), lost);
}

TEST_F(Fetched, WhatNobodyReadIsMissedAgain) {
  std::vector<heap::miss> missed;
  {
    access inside(kRecord);
    guides_[5].get(inside);
    missed = inside.take_misses();
  }
  const auto cancelled = reader_->read(std::move(missed.front()), 1);
  reader_ = std::move(*heap::cold_reader::make());
  ASSERT_EQ(cancelled->error(), ECANCELED);
  arrived_.add(cancelled);
  const use_result got = use(guides_[5], kCopies);
  EXPECT_EQ(got.object, nullptr);
  EXPECT_EQ(got.missed, 1u);
  fetch(guides_[5]);
  EXPECT_EQ(use(guides_[5], kCopies).content, content(5));
}

// Scopes that count: the copy has the count of the scope that brought it back.
TEST_F(Fetched, TheCountOfAScopeGoesWithTheObject) {
  guides::use_words_for(guides::word_use::counts);
  ASSERT_TRUE(sync::begin_migration_epoch(1'000'000));
  fetch(guides_[5]);
  {
    access inside(kRecord, &arrived_, kCopies);
    ASSERT_TRUE(inside.scope().is_tracking());
    const bytes* const got = guides_[5].get(inside);
    EXPECT_EQ(got->view(), content(5));
    EXPECT_EQ(heap_of(guides_[5]), kind::hot);
    EXPECT_EQ(guides::count_of(word_of(guides_[5])), 1u);
  }
  EXPECT_EQ(guides::count_of(word_of(guides_[5])), 0u);
  sync::end_migration_epoch();
  guides::use_words_for(guides::word_use::history);
}

/// A guide in a node, and in the node's copy elsewhere.
struct relocated_guide {
  explicit relocated_guide(guide<bytes>& from) : copy(relocation{}, from) {}
  guide<bytes> copy;
};

TEST_F(Fetched, ByWayOfASlotThatItHasLeftNothingIsCommitted) {
  fetch(guides_[5]);
  auto& policy = ask_policy(0x123);
  const bytes* const before = address(guides_[5]);
  relocated_guide moved(guides_[5]);
  const guides::word old_word = word_of(guides_[5]), new_word = word_of(moved.copy);
  EXPECT_TRUE(guides::has_left(old_word));
  EXPECT_EQ(guides::address_of(old_word), guides::address_of(new_word));
  EXPECT_TRUE(guides::is_in_cold(old_word));
  EXPECT_FALSE(guides::has_left(new_word));
  const std::uint64_t hot = objects_in(kind::hot);
  const use_result copied = use(guides_[5], kCopies);
  EXPECT_EQ(copied.content, content(5));
  EXPECT_NE(copied.object, before);
  EXPECT_EQ(policy.asked, 0) << "nothing can come back";
  expect_never_given(guides_[5], kObjects);
  const use_result waited = use(guides_[5], kObjects, kWait);
  EXPECT_EQ(waited.content, content(5));
  EXPECT_FALSE(lies_in_a_heap(waited.object)) << "it could not take the object's place";
  EXPECT_TRUE(heap::is_out(before));
  EXPECT_EQ(word_of(guides_[5]), old_word);
  EXPECT_EQ(word_of(moved.copy), new_word);
  EXPECT_EQ(objects_in(kind::hot), hot);
  moved.copy.finish_relocation();
  guides_[5].slot().store_relaxed(0);  // the node's destructor is not run
}

TEST_F(Fetched, ByWayOfItsNewSlotItComesBack) {
  fetch(guides_[5]);
  relocated_guide moved(guides_[5]);
  moved.copy.finish_relocation();
  guides_[5].slot().store_relaxed(0);
  EXPECT_EQ(use(moved.copy, kObjects).content, content(5));
  EXPECT_EQ(heap_of(moved.copy), kind::hot);
}

TEST_F(Fetched, AGuideThatGoesBeforeItsRelocationIsFinishedFreesItsObject) {
  const std::uint64_t objects = objects_in(kind::cold);
  const std::size_t slots = guides::registered_slots();
  {
    const relocated_guide moved(guides_[5]);
    EXPECT_EQ(guides::registered_slots(), slots - 1);
  }
  guides_[5].slot().store_relaxed(0);
  EXPECT_EQ(guides::registered_slots(), slots - 1);
  EXPECT_EQ(objects_in(kind::cold), objects - 1);
}

TEST_F(Fetched, ASlotThatItHasLeftMissesToo) {
  relocated_guide moved(guides_[5]);
  const use_result missed = use(guides_[5], kCopies);
  EXPECT_EQ(missed.object, nullptr);
  EXPECT_EQ(missed.missed, 1u);
  {
    access inside;  // and waits
    EXPECT_EQ(guides_[5].get(inside)->view(), content(5));
    EXPECT_EQ(guides_[5].peek(inside)->view(), content(5));
    EXPECT_TRUE(heap::is_out(address(moved.copy)));
  }
  moved.copy.finish_relocation();
  guides_[5].slot().store_relaxed(0);
}

TEST_F(Fetched, ASlotThatAWarmObjectHasLeftIsRead) {
  for (const kind where : {kind::newborn, kind::hot}) {
    guide<bytes> from(make_bytes_in(where, "warm"));
    relocated_guide moved(from);
    EXPECT_FALSE(guides::is_in_cold(word_of(from)));
    EXPECT_EQ(use(from, kObjects).content, "warm");
    EXPECT_EQ(from.birth_heap(), kind::newborn);
    moved.copy.finish_relocation();
    from.slot().store_relaxed(0);
  }
}

}  // namespace
}  // namespace isotherm
