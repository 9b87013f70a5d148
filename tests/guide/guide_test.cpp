#include "guide/guide.hpp"
#include "heap/usage.hpp"

#include <gtest/gtest.h>

#include <array>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "guide/in_cold.hpp"
#include "guide/soda.hpp"
#include "heap/object.hpp"
#include "heap/upkeep.hpp"
#include "sync/epoch.hpp"

namespace isotherm {
namespace {

struct record {
  int a = 0;
  int b = 0;
};

struct registered_elsewhere {  // not trivially copyable, and says that bytes may be moved
  explicit registered_elsewhere(int* counter) : destroyed(counter) {}
  registered_elsewhere(const registered_elsewhere&) = delete;
  ~registered_elsewhere() { ++*destroyed; }
  int* destroyed;
};
struct points_to_itself {
  points_to_itself(const points_to_itself&) {}
};
struct relocatable_element {
  ~relocatable_element() { ++destroyed; }
  static inline int destroyed = 0;
};
struct large {
  std::array<char, 1 << 20> bytes;
};
struct alignas(16) wide_element {
  std::uint64_t words[2];
};

}  // namespace

template <>
struct is_trivially_relocatable<registered_elsewhere> : std::true_type {};
template <>
struct is_trivially_relocatable<relocatable_element> : std::true_type {};

namespace {

static_assert(movable_object<record>);
static_assert(movable_object<registered_elsewhere>);
static_assert(!movable_object<points_to_itself>);
static_assert(!std::is_copy_constructible_v<guide<record>>);
static_assert(std::is_nothrow_move_constructible_v<guide<record>>);

guides::word word_of(const guide<record>& g) { return g.slot().load_relaxed(); }

TEST(Guide, HoldsWhatItWasGiven) {
  const auto g = make_guide<record>(1, 2);
  const scope inside;
  ASSERT_TRUE(g);
  EXPECT_EQ(g.get(inside)->a, 1);
  EXPECT_EQ(g->b, 2);
  EXPECT_EQ((*g).b, 2);
  EXPECT_TRUE(g.holds(g.get(inside)));
}

TEST(Guide, NullGuideAnswersNull) {
  const guide<record> g;
  const scope inside;
  EXPECT_FALSE(g);
  EXPECT_EQ(g.get(inside), nullptr);
}

TEST(Guide, ADereferenceMarksOnceAndThenWritesNothing) {
  const auto g = make_guide<record>();
  EXPECT_FALSE(guides::is_accessed(word_of(g))) << "birth is no access";
  const scope inside;
  g.get(inside);
  const guides::word after = word_of(g);
  EXPECT_TRUE(guides::is_accessed(after));
  g.get(inside);
  EXPECT_EQ(word_of(g), after);
}

TEST(Guide, PeekingIsNoAccessWhileNothingCanMove) {
  guide<bytes> held(make_bytes("abc"));
  const scope inside;
  EXPECT_EQ(held.peek(inside)->view(), "abc");
  EXPECT_FALSE(guides::is_accessed(held.slot().load_relaxed()));
  {
    const sync::moving_guard moving;
    EXPECT_EQ(held.peek(inside)->view(), "abc");
    EXPECT_TRUE(guides::is_accessed(held.slot().load_relaxed()));
  }
  EXPECT_EQ(guide<bytes>().peek(inside), nullptr);
}

TEST(Guide, ADereferenceClearsTheMigrationLock) {
  const auto g = make_guide<record>();
  const scope inside;
  g.get(inside);
  // Accessed and locked: the fast path must not be taken, or a write during the copy is lost.
  g.slot().store_relaxed(guides::locked(word_of(g)));
  g.get(inside);
  EXPECT_FALSE(guides::is_locked(word_of(g)));
}

/// A migration epoch of the protocol "counts" for its life.
struct epoch {
  epoch() {
    guides::use_words_for(guides::word_use::counts);
    EXPECT_TRUE(sync::begin_migration_epoch(1'000'000));
  }
  ~epoch() {
    sync::end_migration_epoch();
    guides::use_words_for(guides::word_use::history);
  }
};

TEST(Guide, TrackingScopesCountOnceAndUncountAtTheEnd) {
  const auto g = make_guide<record>();
  const epoch active;
  {
    const scope outer;
    g.get(outer);
    g.get(outer);
    {
      const scope inner;
      g.get(inner);
    }
    EXPECT_EQ(guides::count_of(word_of(g)), 1u);
  }
  EXPECT_EQ(guides::count_of(word_of(g)), 0u);
}

TEST(Guide, ReplacingACountedObjectKeepsTheCountUntilTheScopeCloses) {
  auto g = make_guide<record>(1, 1);
  const epoch active;
  {
    const scope inside;
    g.get(inside);
    EXPECT_TRUE(g.replace(inside, make_object(g, 2, 2)));
    EXPECT_EQ(guides::count_of(word_of(g)), 1u);
    EXPECT_EQ(g.get(inside)->a, 2);
  }
  EXPECT_EQ(guides::count_of(word_of(g)), 0u) << "uncounted twice, or never";
}

/// A thread with a scope open in which it has dereferenced `g`, until leave().
class holder {
 public:
  explicit holder(const guide<record>& g)
      : thread_([&] {
          const scope inside;
          held_ = g.get(inside);
          has_it_.count_down();
          may_leave_.wait();
        }) {
    has_it_.wait();
  }
  ~holder() { leave(); }
  const record* held() const { return held_; }
  void leave() {
    if (!thread_.joinable()) return;
    may_leave_.count_down();
    thread_.join();
  }

 private:
  const record* held_ = nullptr;
  std::latch has_it_{1}, may_leave_{1};
  std::thread thread_;
};

/// Room for a guide that is put to another use when the guide is gone: bytes that look like a word
/// with a count must stay as they were written.
struct recycled_room {
  guide<record>* make() {
    return ::new (memory) guide<record>(make_object_in<record>(heap::kind::newborn));
  }
  void give_to_somebody_else() { word = kTheirs; }
  bool is_theirs() const { return word == kTheirs; }
  static constexpr guides::word kTheirs = 5 * guides::kCountOne | 0x1000;
  union {
    alignas(8) std::byte memory[sizeof(guide<record>)];
    guides::word word;
  };
};

TEST(Guide, DestructionInsideTheScopeThatCountedItIsSafe) {
  const epoch active;
  recycled_room room;
  {
    const scope inside;
    guide<record>* g = room.make();
    g->get(inside);
    g->~guide();
    room.give_to_somebody_else();
  }
  EXPECT_TRUE(room.is_theirs()) << "the scope took a count back from memory that is another's";
}

// Pitfall 4 with two threads: the guide's object went elsewhere, and so may the guide.
TEST(Guide, DestructionWhileAnotherScopeCountsItIsSafe) {
  const epoch active;
  recycled_room room;
  guide<record>* g = room.make();
  holder other(*g);
  const guide<record> elsewhere(std::move(*g));
  g->~guide();
  room.give_to_somebody_else();
  other.leave();
  EXPECT_TRUE(room.is_theirs()) << "the scope took a count back from memory that is another's";
}

TEST(Guide, ReplaceRetiresTheOldObject) {
  int destroyed = 0;
  {
    auto g = make_guide<registered_elsewhere>(&destroyed);
    {
      const scope inside;
      const auto* old = g.get(inside);
      EXPECT_TRUE(g.replace(inside, make_object(g, &destroyed)));
      EXPECT_EQ(old->destroyed, &destroyed) << "valid until the scope closes";
      EXPECT_EQ(destroyed, 0);
    }
    sync::reclaim_ready();
    EXPECT_EQ(destroyed, 1);
  }
  EXPECT_EQ(destroyed, 2);
}

TEST(Guide, ReplaceTellsHowManyBytesWait) {
  sync::reclaim_ready();
  const std::uint64_t before = sync::retired_bytes();
  auto g = guide<bytes>(make_bytes(std::string(5000, 'v')));
  const scope inside;
  EXPECT_TRUE(g.replace(inside, make_bytes(g, "short")));
  EXPECT_EQ(sync::retired_bytes(), before + 5000);
  auto cold = guide<bytes>(testing_help::bytes_in_cold("its page may be on the disk"));
  const std::size_t room = heap::room_of(cold.get(inside));
  EXPECT_TRUE(cold.replace(inside, make_bytes(cold, "short")));
  EXPECT_EQ(sync::retired_bytes(), before + 5000 + room);
}

struct throws_when_made {
  throws_when_made() { throw std::runtime_error("not made"); }
  long members[100];
};

TEST(Guide, AConstructorThatThrowsLeavesNothingBehind) {
  const auto before = heap::usage_of(heap::kind::newborn, heap::residency::left_out);
  EXPECT_THROW(make_guide<throws_when_made>(), std::runtime_error);
  const auto after = heap::usage_of(heap::kind::newborn, heap::residency::left_out);
  EXPECT_EQ(after.objects, before.objects);
  EXPECT_EQ(after.bytes, before.bytes);
}

TEST(Guide, CompareReplaceWinsOnlyAgainstWhatItSaw) {
  auto g = make_guide<record>(1, 0);
  const scope inside;
  const record* first = g.get(inside);
  auto second = make_object(g, 2, 0);
  EXPECT_TRUE(g.compare_replace(inside, first, second));
  EXPECT_FALSE(second);
  auto third = make_object(g, 3, 0);
  EXPECT_FALSE(g.compare_replace(inside, first, third));
  EXPECT_TRUE(third) << "the loser keeps its object";
  EXPECT_EQ(g.get(inside)->a, 2);
}

TEST(Guide, MovingMovesTheRegistrationToo) {
  auto from = make_guide<record>(4, 2);
  guide<record> to(std::move(from));
  struct finder final : guides::slot_visitor {
    guides::verdict visit(guides::slot_word& slot) override {
      seen.push_back(&slot);
      return guides::verdict::keep_due;
    }
    std::vector<guides::slot_word*> seen;
  } finder;
  guides::visit_registered(finder);
  EXPECT_EQ(finder.seen, std::vector{&to.slot()});
  const scope inside;
  EXPECT_FALSE(from);
  EXPECT_EQ(to.get(inside)->a, 4);
}

// Models a vector of guides that closes a gap while a reference to an object is held.
TEST(Guide, MovingACountedGuidePinsItsObject) {
  const epoch active;
  auto from = make_guide<record>(4, 5);
  guide<record> to;
  {
    const scope inside;
    const record* held = from.get(inside);
    to = std::move(from);
    EXPECT_EQ(guides::count_of(word_of(to)), guides::kCountCeiling);
    EXPECT_EQ(to.get(inside), held);
  }
  EXPECT_EQ(guides::count_of(word_of(to)), guides::kCountCeiling) << "the next scan resets it";
  EXPECT_EQ(word_of(from), 0u);
}

TEST(Guide, MovingAGuideThatAnotherScopeCountedPinsItsObject) {
  const epoch active;
  auto from = make_guide<record>(4, 5);
  holder other(from);
  const guide<record> to(std::move(from));
  EXPECT_EQ(guides::count_of(word_of(to)), guides::kCountCeiling);
  other.leave();
  EXPECT_EQ(guides::count_of(word_of(to)), guides::kCountCeiling);
  EXPECT_TRUE(to.holds(other.held()));
}

// A scope must not take a count back from another guide that is in the slot when it closes.
TEST(Guide, AGuideThatMovesInKeepsItsOwnCounts) {
  const epoch active;
  auto first = make_guide<record>(1, 1);
  auto second = make_guide<record>(2, 2);
  holder of_first(first);
  const guide<record> away(std::move(first));
  first = std::move(second);
  const scope inside;
  first.get(inside);
  EXPECT_EQ(guides::count_of(word_of(first)), 1u);
  of_first.leave();
  EXPECT_EQ(guides::count_of(word_of(first)), 1u) << "the object is in this scope's hands";
}

// While no scope counts, the same bits are a history, which goes where its object goes.
TEST(Guide, AHistoryIsInheritedAndCarried) {
  auto from = make_guide<record>(4, 5);
  from.slot().store_relaxed(guides::with_history(word_of(from), 0xabc));
  {
    const scope inside;
    from.get(inside);
    EXPECT_TRUE(from.replace(inside, make_object(from, 6, 7)));
    EXPECT_EQ(guides::history_of(word_of(from)), 0xabcu);
  }
  guide<record> to(std::move(from));
  EXPECT_EQ(guides::history_of(word_of(to)), 0xabcu);
  const scope inside;
  EXPECT_TRUE(to.clear(inside));
  EXPECT_TRUE(to.replace(inside, make_object(to, 8, 9)));
  EXPECT_EQ(guides::history_of(word_of(to)), 0u) << "another object, of which nothing is known";
}

TEST(Guide, MovingWhatNobodyCountsPinsNothing) {
  const epoch active;
  auto from = make_guide<record>(4, 5);
  const guide<record> to(std::move(from));
  EXPECT_EQ(guides::count_of(word_of(to)), 0u);
}

TEST(Guide, AnEmptiedGuideLeavesSodaWhenItGoes) {
  {
    auto g = make_guide<record>();
    const scope inside;
    g.clear(inside);
    EXPECT_FALSE(g);
  }
  EXPECT_EQ(guides::registered_slots(), 0u);
}

// It is in no bitmap; if its word said otherwise, its destruction would look it up there.
TEST(Guide, AnEmptyGuideThatIsGivenNothingStaysUnknownToSoda) {
  guide<record> g;
  const scope inside;
  g.clear(inside);
  EXPECT_EQ(word_of(g), 0u);
  EXPECT_FALSE(g.replace(inside, owned<record>()));
  EXPECT_EQ(word_of(g), 0u);
}

// Models exhausted memory, which makes an empty owned: the guide keeps its object.
TEST(Guide, AnEmptyOwnedReplacesNothing) {
  auto g = make_guide<record>(1, 2);
  const scope inside;
  const record* held = g.get(inside);
  EXPECT_FALSE(g.replace(inside, owned<record>()));
  owned<record> nothing;
  EXPECT_FALSE(g.compare_replace(inside, held, nothing));
  EXPECT_TRUE(g.holds(held));
}

TEST(Guide, ClearingRetiresTheObject) {
  int destroyed = 0;
  auto g = make_guide<registered_elsewhere>(&destroyed);
  {
    const scope inside;
    const auto* held = g.get(inside);
    EXPECT_TRUE(g.compare_clear(inside, held));
    EXPECT_FALSE(g.compare_clear(inside, held));
    EXPECT_FALSE(g);
    ASSERT_TRUE(g.replace(inside, make_object(g, &destroyed)));
    g.clear(inside);
    EXPECT_EQ(destroyed, 0) << "valid until the scope closes";
  }
  sync::reclaim_ready();
  EXPECT_EQ(destroyed, 2);
}

TEST(Guide, ArraysOfEveryLength) {
  for (const std::size_t length : {0u, 1u, 1000u, 1u << 20}) {
    const auto g = make_guide<std::uint32_t[]>(length);
    const scope inside;
    array<std::uint32_t>& held = *g.get(inside);
    ASSERT_EQ(held.size(), length);
    for (std::uint32_t i = 0; std::uint32_t& each : held) {
      EXPECT_EQ(each, 0u);
      each = ++i;
    }
    if (length > 0) {
      EXPECT_EQ(held[length - 1], length);
    }
  }
  EXPECT_FALSE(make_guide<std::uint32_t[]>(std::size_t{1} << 62)) << "its size overflows";
}

TEST(Guide, AnArraysElementsAreAlignedAndDestroyed) {
  {
    const auto g = make_guide<relocatable_element[]>(3u);
    EXPECT_EQ(relocatable_element::destroyed, 0);
  }
  EXPECT_EQ(relocatable_element::destroyed, 3);
  const auto g = make_guide<wide_element[]>(3u);
  const scope inside;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(g->data()) % alignof(wide_element), 0u);
}

TEST(Guide, SuccessorsInheritTheTemperature) {
  auto g = make_guide<record>(1, 1);
  EXPECT_EQ(make_object(g, 2, 2).where(), heap::kind::newborn);
  {
    const scope inside;
    EXPECT_TRUE(g.replace(inside, make_object_in<record>(heap::kind::hot, 3, 3)));
  }
  EXPECT_EQ(make_object(g, 4, 4).where(), heap::kind::hot);
  {
    const scope inside;
    EXPECT_TRUE(g.replace(inside, testing_help::object_in_cold<record>(3, 3)));
  }
  EXPECT_EQ(make_object(g, 4, 4).where(), heap::kind::newborn);
}

TEST(Guide, BytesOfEveryLength) {
  for (const std::size_t length : {0u, 1u, 7u, 8u, 1024u, 3u << 20}) {
    std::string content(length, '\0');
    for (std::size_t i = 0; i < length; ++i) content[i] = static_cast<char>(i * 31);
    const guide<bytes> g(make_bytes(content));
    const scope inside;
    EXPECT_EQ(g.get(inside)->view(), content);
  }
}

// Pitfall 3: more scopes than the count can hold.
TEST(Guide, TheCountSaturatesInsteadOfWrapping) {
  const auto g = make_guide<record>();
  g.slot().store_relaxed(word_of(g) | guides::kCountMask);
  ASSERT_TRUE(sync::begin_migration_epoch(1'000'000));
  {
    const scope inside;
    g.get(inside);
    EXPECT_EQ(guides::count_of(word_of(g)), guides::kCountCeiling);
    EXPECT_EQ(guides::heap_of(word_of(g)), heap::kind::newborn);
  }
  EXPECT_EQ(guides::count_of(word_of(g)), guides::kCountCeiling) << "pinned, not released";
  sync::end_migration_epoch();
}

// A move waits for open scopes: a scope that waited until moves make room would hold them up.
TEST(Guide, AWaitForRoomIsOwedUntilTheScopesAreClosed) {
  const std::uint64_t before = heap::slowed_allocations();
  heap::allow_growth(0);
  std::vector<guide<large>> made;
  {
    const scope inside;
    for (int i = 0; i < 3; ++i) made.push_back(make_guide<large>());
    EXPECT_EQ(heap::slowed_allocations(), before);
  }
  heap::wait_for_room();
  EXPECT_EQ(heap::slowed_allocations(), before + 1) << "one wait for all";
  heap::wait_for_room();
  EXPECT_EQ(heap::slowed_allocations(), before + 1) << "paid";
  made.push_back(make_guide<large>());
  EXPECT_EQ(heap::slowed_allocations(), before + 2) << "outside a scope at once";
  heap::allow_growth(heap::kUnlimitedGrowth);
}

TEST(Guide, AnOwedWaitForRoomMayBeTakenOver) {
  heap::room_wait wait;
  wait.update();
  EXPECT_FALSE(wait.is_on()) << "nothing is owed";
  heap::allow_growth(0);
  std::vector<guide<large>> made;
  {
    const scope inside;
    for (int i = 0; i < 3; ++i) made.push_back(make_guide<large>());
  }
  const std::uint64_t before = heap::slowed_allocations();
  wait.update();
  EXPECT_TRUE(wait.is_on());
  heap::wait_for_room();
  EXPECT_EQ(heap::slowed_allocations(), before) << "it is not owed any more";
  heap::allow_growth(heap::kUnlimitedGrowth);
  wait.update();
  EXPECT_FALSE(wait.is_on()) << "there is room";
  EXPECT_EQ(heap::slowed_allocations(), before + 1);
}

// A scope that has the old slot could not bring it out of COLD.
TEST(Guide, WhatMayBeWrittenStaysWhereItIsForARelocation) {
  guide<record> from(make_object_in<record>(heap::kind::hot));
  from.slot().store_relaxed(from.slot().load_relaxed() & ~guides::kAccessed);
  {
    const sync::moving_guard moving;
    guide<record> copy(relocation{}, from);
    EXPECT_TRUE(guides::is_accessed(copy.slot().load_relaxed())) << "which vetoes a move";
    copy.finish_relocation();
  }
  from.slot().store_relaxed(0);  // the node's destructor is not run
}

}  // namespace
}  // namespace isotherm
