// Changes by other threads just before a copy of an object that was read takes the object's place.
// Builds without a sanitizer have no such moments.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "guide/fetched.hpp"
#include "guide/fetched_objects.hpp"
#include "guide/in_cold.hpp"
#include "heap/cold/batch_reads.hpp"
#include "heap/header.hpp"
#include "sync/steps.hpp"

#if defined(ISOTHERM_SANITIZED)
namespace isotherm {
namespace {

using heap::kind;
using sync::at_steps;
using sync::step;
using testing_help::kCopies;
using testing_help::kObjects;

class FetchedMoments : public testing_help::FetchedObjects {
 protected:
  FetchedMoments() {
    fetch(here_);
    hot_before_ = objects_in(kind::hot);
    cold_before_ = objects_in(kind::cold);
  }
  /// Uses the object; `act` runs once, when its copy is about to take its place.
  use_result use_amid(std::function<void()> act, access::copies may_use = kObjects,
                      access::when_cold how = access::when_cold::record) {
    int times = 0;
    use_result got;
    {
      const at_steps between([&](step at, const void* where) {
        if (at != step::fetched || where != &here_.slot() || times++ > 0) return;
        act();
      });
      got = use(here_, may_use, how);
    }
    EXPECT_GE(times, 1);
    sync::reclaim_ready();
    return got;
  }
  /// Moves the object as the collector does (copy_and_commit()), from the word on.
  static void move_to(const guide<bytes>& g, kind target) {
    guides::word seen = word_of(g);
    void* const old = guides::pointer_of(seen);
    heap::batch_reads reads;
    reads.add(old);
    reads.run();
    const void* const found = reads.find(old);
    ASSERT_NE(found, nullptr);
    const std::size_t bytes = heap::object_size(found);
    void* const made = heap::allocate(target, bytes, heap::recycling::none);
    std::memcpy(made, found, bytes);
    const guides::word next = guides::moved_to(seen, reinterpret_cast<guides::word>(made), target);
    ASSERT_TRUE(g.slot().compare_exchange_seq_cst(seen, next));
    sync::retire(old, [](void* gone) noexcept { heap::deallocate(gone, heap::recycling::none); });
  }
  /// Expects so many more live objects than before the use.
  void expect_more(int in_hot, int in_cold) const {
    EXPECT_EQ(objects_in(kind::hot), hot_before_ + static_cast<std::uint64_t>(in_hot));
    EXPECT_EQ(objects_in(kind::cold), cold_before_ + static_cast<std::uint64_t>(in_cold));
  }

  const std::size_t number_ = 5;
  guide<bytes>& here_ = guides_[number_];
  std::uint64_t hot_before_ = 0, cold_before_ = 0;
};

TEST_F(FetchedMoments, NobodyElse) {
  EXPECT_EQ(use_amid([] {}).content, content(number_));
  EXPECT_EQ(heap_of(here_), kind::hot);
  expect_more(1, -1);
}

TEST_F(FetchedMoments, AWriterReplacesTheObject) {
  const use_result got = use_amid([this] {
    const scope inside;
    ASSERT_TRUE(here_.replace(inside, make_bytes("another")));
  });
  EXPECT_EQ(got.content, "another");
  EXPECT_EQ(heap_of(here_), kind::newborn);
  expect_more(0, -1);
}

TEST_F(FetchedMoments, AWriterClearsTheGuide) {
  const use_result got = use_amid([this] {
    const scope inside;
    ASSERT_TRUE(here_.clear(inside));
  });
  EXPECT_EQ(got.object, nullptr);
  EXPECT_EQ(got.outcome, access::outcome::complete);
  EXPECT_TRUE(here_.is_null());
  expect_more(0, -1);
}

TEST_F(FetchedMoments, AWriterReplacesItByAnotherInCold) {
  const use_result got = use_amid([this] {
    const scope inside;
    ASSERT_TRUE(here_.replace(inside, testing_help::bytes_in_cold("another")));
  });
  EXPECT_EQ(got.content, "another") << "it is in DRAM yet";
  EXPECT_EQ(heap_of(here_), kind::cold);
  expect_more(0, 0);
}

TEST_F(FetchedMoments, AWriterReplacesItByOneThatIsOut) {
  guide<bytes>& other = guides_[80];
  const use_result got = use_amid([this, &other] {
    const scope inside;
    // Any word of an object in COLD that is out.
    const guides::word taken = other.slot().exchange_acq_rel(guides::kVacant);
    const guides::word before = guides::exchange(here_.slot(), taken);
    other.slot().store_release(before);
  });
  EXPECT_EQ(got.object, nullptr);
  EXPECT_EQ(got.missed, 1u) << "it is noted in its turn";
  EXPECT_EQ(heap_of(here_), kind::cold);
  expect_more(0, 0);
}

TEST_F(FetchedMoments, TheCollectorMovesItWithinCold) {
  const use_result got = use_amid([this] { move_to(here_, kind::cold); });
  EXPECT_EQ(got.content, content(number_));
  EXPECT_EQ(got.object, address(here_));
  EXPECT_EQ(heap_of(here_), kind::cold);
  expect_more(0, 0);
}

TEST_F(FetchedMoments, TheCollectorBringsItBackItself) {
  const use_result got = use_amid([this] { move_to(here_, kind::hot); });
  EXPECT_EQ(got.content, content(number_));
  EXPECT_EQ(got.object, address(here_));
  expect_more(1, -1);
}

// The lock of a move under way is cleared by the commit, so that the move fails.
TEST_F(FetchedMoments, TheCollectorHasBegunToCopyIt) {
  guides::word locked = 0;
  const use_result got = use_amid([this, &locked] {
    locked = guides::locked(word_of(here_));
    here_.slot().store_release(locked);
  });
  EXPECT_EQ(got.content, content(number_));
  EXPECT_EQ(heap_of(here_), kind::hot);
  EXPECT_FALSE(guides::is_locked(word_of(here_)));
  EXPECT_NE(word_of(here_), locked);
  expect_more(1, -1);
}

// The end of a window: the mark is gone, the history another one.
TEST_F(FetchedMoments, TheCollectorAgesItsWord) {
  ask_policy(0x77);
  const use_result got = use_amid([this] {
    const guides::word seen = word_of(here_);
    here_.slot().store_release(guides::with_history(seen & ~guides::kAccessed, 0x234));
  });
  EXPECT_EQ(got.content, content(number_));
  EXPECT_EQ(heap_of(here_), kind::hot);
  EXPECT_TRUE(guides::is_accessed(word_of(here_))) << "this scope uses it: it must not move";
  EXPECT_EQ(guides::history_of(word_of(here_)), 0x77u);
  expect_more(1, -1);
}

TEST_F(FetchedMoments, AnotherReaderIsFaster) {
  const bytes* first = nullptr;
  const use_result got = use_amid([this, &first] {
    std::thread([this, &first] { first = use(here_, kObjects).object; }).join();
  });
  EXPECT_EQ(got.object, first);
  EXPECT_EQ(got.content, content(number_));
  expect_more(1, -1);
}

class FetchedAmidRelocation : public FetchedMoments,
                              public testing::WithParamInterface<access::copies> {};
INSTANTIATE_TEST_SUITE_P(Uses, FetchedAmidRelocation, testing::Values(kCopies, kObjects),
                         [](const auto& info) {
                           return info.param == kCopies ? "Copies" : "Objects";
                         });

// The node's copy has its word, the old one says that the object has left.
TEST_P(FetchedAmidRelocation, ItsNodeGivesWayToAnother) {
  const bytes* const before = address(here_);
  std::optional<guide<bytes>> copy;
  const use_result got = use_amid([this, &copy] { copy.emplace(relocation{}, here_); }, GetParam(),
                                  access::when_cold::wait);
  EXPECT_EQ(got.content, content(number_));
  EXPECT_NE(got.object, before) << "a copy, which lives as long as the scope";
  EXPECT_EQ(address(*copy), before) << "whoever reads the old slot must find it";
  EXPECT_EQ(heap_of(*copy), kind::cold);
  EXPECT_TRUE(guides::has_left(word_of(here_)));
  expect_more(0, 0);
  copy->finish_relocation();
  here_.slot().store_relaxed(0);
}

}  // namespace
}  // namespace isotherm
#endif
