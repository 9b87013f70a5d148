// The pitfalls of the migration protocols, one by one: each test puts a thread's
// action at the worst moment and looks at what the collector then does.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "collector/protocol/counts.hpp"
#include "collector/protocol/veto.hpp"
#include "collector/window/migration.hpp"
#include "guide/guide.hpp"
#include "heap/object.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "sync/epoch.hpp"

namespace isotherm::collector {
namespace {

using heap::kind;

const auto kNoStop = [] { return false; };

/// Moves all of a list. Returns false when moving has ended.
bool move_all(migration& moves, std::span<const candidate> list) {
  for (moves.begin_list(list); moves.move_batch();) {
  }
  return !moves.has_ended();
}

bool run(migration_protocol& protocol, const migration_limits& limits,
         std::span<const candidate> list, window_statistics& seen) {
  migration moves(protocol, limits, kNoStop, seen);
  return move_all(moves, list);
}

class Migration : public testing::Test {
 protected:
  guides::word word() const { return g_.slot().load_relaxed(); }
  const void* address() const { return guides::pointer_of(word()); }
  std::string content() const {
    const scope inside;
    return std::string(g_.get(inside)->view());
  }
  guide<bytes> g_{make_bytes(std::string(100, 'a'))};
  std::size_t moved_bytes_ = 0;
};

TEST_F(Migration, CountsMovesWhatNobodyUses) {
  const auto protocol = make_counts_protocol();
  ASSERT_TRUE(protocol->begin({}, 1'000'000));
  EXPECT_EQ(protocol->move(g_.slot(), word(), address(), kind::cold, moved_bytes_),
            move_result::moved);
  protocol->end();
  EXPECT_EQ(guides::heap_of(word()), kind::cold);
  EXPECT_FALSE(guides::is_locked(word()));
  EXPECT_EQ(moved_bytes_, 100U);
  EXPECT_EQ(content(), std::string(100, 'a'));
}

TEST_F(Migration, CountsIsVetoedByACount) {
  const auto protocol = make_counts_protocol();
  ASSERT_TRUE(protocol->begin({}, 1'000'000));
  {
    const scope inside;
    const bytes* held = g_.get(inside);
    EXPECT_EQ(protocol->move(g_.slot(), word(), address(), kind::cold, moved_bytes_),
              move_result::vetoed);
    EXPECT_TRUE(g_.holds(held));
  }
  EXPECT_EQ(protocol->move(g_.slot(), word(), address(), kind::cold, moved_bytes_),
            move_result::moved);
  protocol->end();
}

TEST_F(Migration, ADereferenceDuringTheCopyMakesTheCommitFail) {
  // The collector has locked the word; a thread comes, counts, writes, uncounts; then the collector
  // commits on the word it locked (pitfalls 1 and 2).
  const guides::word locked = guides::locked(word());
  g_.slot().store_relaxed(locked);
  ASSERT_TRUE(sync::begin_migration_epoch(1'000'000));
  const void* before = guides::pointer_of(word());
  {
    const scope inside;
    EXPECT_EQ(g_.get(inside), before);
  }
  sync::end_migration_epoch();
  EXPECT_EQ(
      copy_and_commit(g_.slot(), locked, guides::pointer_of(locked), kind::cold, moved_bytes_),
      move_result::vetoed);
  EXPECT_EQ(guides::pointer_of(word()), before);
  EXPECT_EQ(heap::usage_of(kind::cold, heap::residency::left_out).objects, 0u)
      << "the failed copy was not freed";
}

TEST_F(Migration, AReplacementDuringTheCopyMakesTheCommitFail) {
  const guides::word locked = guides::locked(word());
  g_.slot().store_relaxed(locked);
  {
    const scope inside;
    EXPECT_TRUE(g_.replace(inside, make_bytes("new")));
  }
  EXPECT_FALSE(guides::is_locked(word()));
  const scope inside;
  EXPECT_EQ(
      copy_and_commit(g_.slot(), locked, guides::pointer_of(locked), kind::cold, moved_bytes_),
      move_result::vetoed);
  EXPECT_EQ(content(), "new");
}

TEST_F(Migration, ASaturatedCountPins) {
  g_.slot().store_relaxed(word() | guides::kCountMask);
  const auto protocol = make_counts_protocol();
  ASSERT_TRUE(protocol->begin({}, 1'000'000));
  EXPECT_EQ(protocol->move(g_.slot(), word(), address(), kind::cold, moved_bytes_),
            move_result::vetoed);
  protocol->end();
}

TEST_F(Migration, VetoMovesOnlyWhatWasNotUsedSince) {
  const auto protocol = make_veto_protocol();
  const candidate one{&g_.slot(), kind::hot};
  {
    const scope inside;
    g_.get(inside);
  }
  ASSERT_TRUE(protocol->begin({&one, 1}, 1'000'000));
  EXPECT_FALSE(guides::is_accessed(word())) << "the grace period must cover the bit's meaning";
  EXPECT_EQ(protocol->move(g_.slot(), word(), address(), kind::hot, moved_bytes_),
            move_result::moved);
  ASSERT_TRUE(protocol->begin({}, 1'000'000));
  {
    const scope inside;
    g_.get(inside);
  }
  EXPECT_EQ(protocol->move(g_.slot(), word(), address(), kind::cold, moved_bytes_),
            move_result::vetoed);
  EXPECT_EQ(content(), std::string(100, 'a'));
}

TEST_F(Migration, WhatIsUsedAgainAfterTheScanLeavesNewForHot) {
  for (const std::string_view name : protocol_names()) {
    guide<bytes> used(make_bytes("used")), unused(make_bytes("unused"));
    {
      const scope inside;
      used.get(inside);
    }
    const auto protocol = *make_protocol(name);
    const std::array candidates{candidate{&used.slot(), kind::cold},
                                candidate{&unused.slot(), kind::cold}};
    window_statistics seen;
    run(*protocol, {1, 1'000'000}, candidates, seen);
    EXPECT_EQ(guides::heap_of(used.slot().load_relaxed()), kind::hot) << name;
    EXPECT_EQ(guides::heap_of(unused.slot().load_relaxed()), kind::cold) << name;
    EXPECT_EQ(seen.promoted.objects, 1u) << name;
    EXPECT_EQ(seen.demoted.objects, 1u) << name;
    EXPECT_EQ(seen.vetoed, 1u) << name;
  }
}

/// Moves as "veto" does, but its first epochs can't begin.
class late_protocol final : public migration_protocol {
 public:
  explicit late_protocol(unsigned abandoned) : abandoned_(abandoned) {}
  std::string_view name() const noexcept override { return "late"; }
  guides::word_use use_of_words() const noexcept override { return guides::word_use::history; }
  bool begin(std::span<const candidate> batch, sync::patience limit) override {
    return abandoned_ == 0 ? real_->begin(batch, limit) : (--abandoned_, false);
  }
  move_result move(guides::slot_word& slot, guides::word seen, const void* from, heap::place target,
                   std::size_t& bytes) override {
    return real_->move(slot, seen, from, target, bytes);
  }
  void end() override { real_->end(); }

 private:
  unsigned abandoned_;
  std::unique_ptr<migration_protocol> real_ = make_veto_protocol();
};

/// Moves as "veto" does and remembers what was moved in each epoch.
class recording_protocol final : public migration_protocol {
 public:
  std::string_view name() const noexcept override { return "recording"; }
  guides::word_use use_of_words() const noexcept override { return guides::word_use::history; }
  bool begin(std::span<const candidate> batch, sync::patience limit) override {
    moved.push_back(0);
    return real_->begin(batch, limit);
  }
  move_result move(guides::slot_word& slot, guides::word seen, const void* from, heap::place target,
                   std::size_t& bytes) override {
    const move_result result = real_->move(slot, seen, from, target, bytes);
    moved.back() += bytes;
    return result;
  }
  void end() override { real_->end(); }
  std::vector<std::size_t> moved;  // bytes by epoch

 private:
  std::unique_ptr<migration_protocol> real_ = make_veto_protocol();
};

/// Moves as "veto" does, but somebody uses the object meanwhile in the first batches.
class busy_protocol final : public migration_protocol {
 public:
  busy_protocol(const guide<bytes>& used, int batches) : used_(used), batches_(batches) {}
  std::string_view name() const noexcept override { return "busy"; }
  guides::word_use use_of_words() const noexcept override { return guides::word_use::history; }
  bool begin(std::span<const candidate> batch, sync::patience limit) override {
    const bool is_ready = real_->begin(batch, limit);
    if (batches_-- > 0) {
      const scope inside;
      used_.get(inside);
    }
    return is_ready;
  }
  move_result move(guides::slot_word& slot, guides::word seen, const void* from, heap::place target,
                   std::size_t& bytes) override {
    return real_->move(slot, seen, from, target, bytes);
  }
  void end() override { real_->end(); }

 private:
  const guide<bytes>& used_;
  int batches_;
  std::unique_ptr<migration_protocol> real_ = make_veto_protocol();
};

// One that is left keeps a whole extent of HOT.
TEST_F(Migration, WhatIsUsedWhileItMovesWithinHotIsTriedOnceMore) {
  for (const int batches : {0, 1, 2}) {
    heap::trim();  // it takes no hole of another extent
    guide<bytes> held(make_bytes_in(kind::hot, 100));
    const void* const before = guides::pointer_of(held.slot().load_relaxed());
    std::vector<guide<bytes>> others;
    while (!heap::is_closed(before)) others.emplace_back(make_bytes_in(kind::hot, 100));
    busy_protocol busy(held, batches);
    const candidate one{&held.slot(), {kind::hot, heap::band{0}}};
    window_statistics seen;
    migration moves(busy, {1, 1'000'000}, kNoStop, seen);
    EXPECT_TRUE(move_all(moves, {&one, 1}));
    EXPECT_EQ(seen.compacted.objects, batches < 2 ? 1u : 0u) << batches;
    EXPECT_TRUE(move_all(moves, {}));  // nothing is left over for the next list
    EXPECT_EQ(seen.vetoed, static_cast<std::uint64_t>(batches)) << batches;
    EXPECT_EQ(held.holds(static_cast<const bytes*>(before)), batches == 2) << batches;
  }
}

// How long scopes track, or a grace period's promise is needed, follows the bytes of a batch.
class MigrationOfLarge : public testing::Test {
 protected:
  static constexpr std::size_t kLarge = 256 << 10, kLimit = 1 << 20;

  void SetUp() override {
    for (int i = 0; i < 3000; ++i) {
      objects_.emplace_back(make_bytes(std::string(i % 10 == 0 ? kLarge : 10, 'x')));
    }
  }
  std::vector<candidate> to_cold() {
    std::vector<candidate> all;
    const scope inside;
    for (auto& each : objects_) {
      const std::size_t size = heap::object_size(each.peek(inside));
      all.push_back({&each.slot(), kind::cold, false, static_cast<std::uint32_t>(size)});
    }
    return all;
  }
  void use_all() {
    const scope inside;
    for (auto& each : objects_) each.get(inside);
  }
  void run(const std::vector<candidate>& candidates) {
    EXPECT_TRUE(collector::run(protocol_, {kLimit, 1'000'000}, candidates, seen_));
    for (const std::size_t bytes : protocol_.moved) EXPECT_LT(bytes, kLimit + 2 * kLarge);
  }

  std::vector<guide<bytes>> objects_;
  recording_protocol protocol_;
  window_statistics seen_;
};

TEST_F(MigrationOfLarge, ABatchIsNoLongerThanOneOfSmall) {
  run(to_cold());
  EXPECT_EQ(seen_.demoted.objects, objects_.size());
  EXPECT_LT(protocol_.moved.size(), 2 * seen_.demoted.bytes / kLimit) << "and not much shorter";
}

TEST_F(MigrationOfLarge, NorIsOneOfObjectsThatWereUsedAgain) {
  const auto candidates = to_cold();
  use_all();
  run(candidates);
  EXPECT_EQ(seen_.promoted.objects, objects_.size());
}

/// Leaves everything as it is.
struct looking_visitor final : guides::slot_visitor {
  guides::verdict visit(guides::slot_word&) override { return guides::verdict::keep_due; }
};

// Only the scan of a due slot takes back a count that stayed behind, and the object could not move
// until then.
TEST_F(Migration, AColdObjectThatIsPinnedStaysDue) {
  guides::use_words_for(guides::word_use::counts);
  const auto protocol = make_veto_protocol();
  ASSERT_TRUE(protocol->begin({}, 1'000'000));
  ASSERT_EQ(protocol->move(g_.slot(), word(), address(), kind::cold, moved_bytes_),
            move_result::moved);
  const candidate one{&g_.slot(), kind::cold};
  window_statistics seen;
  looking_visitor look;
  for (const bool is_pinned : {true, false}) {
    g_.slot().store_relaxed(is_pinned ? guides::pinned(word()) : guides::without_counts(word()));
    run(*protocol, {1, 1'000'000}, {&one, 1}, seen);
    EXPECT_EQ(guides::visit_due(look), is_pinned ? 1u : 0u);
  }
  guides::use_words_for(guides::word_use::history);
}

TEST_F(Migration, AnAbandonedEpochIsTriedAgain) {
  late_protocol late(3);
  const candidate one{&g_.slot(), kind::cold};
  window_statistics seen;
  EXPECT_TRUE(run(late, {1, 1'000'000}, {&one, 1}, seen));
  EXPECT_EQ(guides::heap_of(word()), kind::cold);
  EXPECT_EQ(seen.abandoned_epochs, 3u);
}

TEST_F(Migration, AScopeThatStaysOpenEndsTheWindowsWork) {
  late_protocol late(~0u);
  const candidate one{&g_.slot(), kind::cold};
  window_statistics seen;
  EXPECT_FALSE(run(late, {1, 1'000'000}, {&one, 1}, seen));
  EXPECT_NE(guides::heap_of(word()), kind::cold);
  EXPECT_GT(seen.abandoned_epochs, 1u);
}

}  // namespace
}  // namespace isotherm::collector
