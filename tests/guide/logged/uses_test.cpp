// Uses of immutable objects that are out, COLD being a file: by a scope, by copies, by peeks, by
// way of old slots, and where there is no room for what was read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/page.hpp"
#include "guide/fetched_objects.hpp"
#include "guide/in_cold.hpp"
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

class LoggedUses : public testing_help::FetchedObjects {
 protected:
  ~LoggedUses() override { os::set_fault_hook({}); }
  /// Fills HOT for its life.
  class full_hot {
   public:
    full_hot() {
      for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{900}, std::size_t{1}}) {
        while (void* const made = heap::allocate(kind::hot, bytes, heap::recycling::none)) {
          filling_.push_back(made);
        }
      }
    }
    ~full_hot() {
      for (void* each : filling_) heap::deallocate(each, heap::recycling::none);
    }
    full_hot(const full_hot&) = delete;
    full_hot& operator=(const full_hot&) = delete;

   private:
    std::vector<void*> filling_;
  };
};

TEST_F(LoggedUses, TheAddressThatAScopeGetsIsTheObjects) {
  const scope inside;
  const bytes* const found = guides_[5].get(inside);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->view(), content(5));
  EXPECT_EQ(heap_of(guides_[5]), kind::hot);
  EXPECT_TRUE(guides_[5].holds(found));
  EXPECT_EQ(guides_[5].get(inside), found);
  owned<bytes> next = make_bytes("next");
  ASSERT_TRUE(guides_[5].compare_replace(inside, found, next));
  EXPECT_EQ(guides_[5].get(inside)->view(), "next");
  EXPECT_EQ(found->view(), content(5)) << "until the scope closes";
}

TEST_F(LoggedUses, AnAddressInMemoryStaysValidWhenTheObjectLeaves) {
  const guide<bytes> g(testing_help::bytes_in_cold("in memory"));
  {
    const scope inside;
    const bytes* const found = g.get(inside);
    EXPECT_EQ(found, address(g));
    let_leave();
    EXPECT_TRUE(heap::is_out(found));
    for (int i = 0; i < 3; ++i) sync::reclaim_ready();
    EXPECT_EQ(found->view(), "in memory");
    const bytes* const now = g.get(inside);  // as a thread does whose scope opens now
    EXPECT_EQ(now->view(), "in memory");
    EXPECT_NE(now, found);
    sync::reclaim_ready();
    EXPECT_EQ(found->view(), "in memory");
  }
  sync::reclaim_ready();
  const scope inside;
  EXPECT_EQ(g.get(inside)->view(), "in memory");
}

TEST_F(LoggedUses, ACopyLivesUntilTheOutermostScopeCloses) {
  ask_policy(std::nullopt);
  sync::reclaim_ready();
  const std::uint64_t before = sync::retired_bytes();
  const scope outer;
  std::vector<const bytes*> copies;
  for (int round = 0; round < 2; ++round) {
    for (const auto& each : guides_) {
      access inner(kWait, nullptr, kCopies);
      copies.push_back(each.get(inner));
      ASSERT_NE(copies.back(), nullptr);
      EXPECT_EQ(inner.result(), complete);
    }
    sync::reclaim_ready();
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    EXPECT_EQ(copies[i]->view(), content(i % kCount));
  }
  EXPECT_EQ(heap_of(guides_[0]), kind::cold);
  EXPECT_GE(sync::retired_bytes() - before, copies.size() * base::kPageBytes)
      << "the pages of each wait";
}

std::uint64_t resident_bytes() {
  std::uint64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * base::kPageBytes;
}

// Small objects: what waits to be freed is whole pages.
TEST_F(LoggedUses, CopiesTakeNoMoreAndMoreMemory) {
#if defined(ISOTHERM_SANITIZED)
  constexpr int kReads = 2000;
#else
  constexpr int kReads = 20'000;
#endif
  constexpr std::uint64_t kMostRetired = std::uint64_t{1} << 20, kMostGrowth = 32U << 20;
  std::vector<guide<bytes>> small;
  small.reserve(100);
  for (int i = 0; i < 100; ++i) small.emplace_back(testing_help::bytes_in_cold("small"));
  let_leave();
  sync::reclaim_ready();
  ask_policy(std::nullopt);
  const std::uint64_t before = resident_bytes();
  std::uint64_t most_retired = 0;
  for (int i = 0; i < kReads; ++i) {
    {
      access inside(kWait, nullptr, kCopies);
      const bytes* const found = small[static_cast<std::size_t>(i) % small.size()].get(inside);
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(found->view(), "small");
    }
    most_retired = std::max(most_retired, sync::retired_blocks() * base::kPageBytes);
  }
  EXPECT_LE(most_retired, kMostRetired);
#if !defined(ISOTHERM_SANITIZED)
  EXPECT_LE(resident_bytes(), before + kMostGrowth);
#else
  static_cast<void>(before);
  static_cast<void>(kMostGrowth);
#endif
  EXPECT_EQ(heap_of(small[0]), kind::cold);
}

TEST_F(LoggedUses, APeekIsNoAccessWhereTheObjectIsInMemory) {
  const guide<bytes> empty, born(make_bytes("new")), hot(make_bytes_in(kind::hot, "hot")),
      cold(testing_help::bytes_in_cold("cold"));
  const scope inside;
  access own;
  EXPECT_EQ(empty.peek(inside), nullptr);
  EXPECT_EQ(empty.peek(own), nullptr);
  for (const auto* each : {&born, &hot, &cold}) {
    each->slot().store_relaxed(word_of(*each) & ~guides::kAccessed);
    const guides::word before = word_of(*each);
    EXPECT_EQ(each->peek(inside), address(*each));
    EXPECT_EQ(each->peek(own), address(*each));
    EXPECT_EQ(word_of(*each), before);
    EXPECT_EQ(own.result(), complete);
  }
}

TEST_F(LoggedUses, APeekIsAnAccessWhileMovesMayHappen) {
  const guide<bytes> born(make_bytes("new")), cold(testing_help::bytes_in_cold("cold"));
  const sync::moving_guard moving;
  const scope inside;
  for (const auto* each : {&born, &cold, &std::as_const(guides_[3])}) {
    each->slot().store_relaxed(word_of(*each) & ~guides::kAccessed);
    ASSERT_NE(each->peek(inside), nullptr);
    EXPECT_TRUE(guides::is_accessed(word_of(*each)));
  }
}

TEST_F(LoggedUses, APeekAtWhatIsOutReadsIt) {
  {
    const scope inside;
    const bytes* const found = guides_[3].peek(inside);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->view(), content(3));
    EXPECT_EQ(found, address(guides_[3]));
    EXPECT_EQ(heap_of(guides_[3]), kind::hot);
    access waits;
    EXPECT_EQ(guides_[4].peek(waits)->view(), content(4));
    EXPECT_EQ(waits.result(), complete);
  }
  ask_policy(std::nullopt);
  {
    access copies(kWait, nullptr, kCopies);
    EXPECT_EQ(guides_[5].peek(copies)->view(), content(5));
    EXPECT_EQ(heap_of(guides_[5]), kind::cold);
  }
  std::vector<heap::miss> missed;
  {
    access records(kRecord, nullptr, kCopies);
    EXPECT_EQ(guides_[6].peek(records), nullptr);
    EXPECT_EQ(records.result(), access::outcome::missed);
    missed = records.take_misses();
  }
  ASSERT_EQ(missed.size(), 1u);
  arrived_.add(read(std::move(missed.front())));
  for (const auto may_use : {kCopies, kObjects}) {
    access records(kRecord, &arrived_, may_use);
    const bytes* const found = guides_[6].peek(records);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->view(), content(6));
    EXPECT_EQ(heap_of(guides_[6]), may_use == kCopies ? kind::cold : kind::hot);
  }
  access ahead(access::when_cold::prefetch);
  EXPECT_EQ(guides_[90].peek(ahead), nullptr);
  EXPECT_EQ(ahead.result(), access::outcome::missed);
}

TEST_F(LoggedUses, ByWayOfAnOldSlotAScopeGetsACopy) {
  guide<bytes> moved(relocation{}, guides_[5]);
  const guides::word old_word = word_of(guides_[5]), new_word = word_of(moved);
  {
    const scope inside;
    const bytes* const found = guides_[5].get(inside);
    ASSERT_NE(found, nullptr);
    const bytes* const again = guides_[5].peek(inside);
    ASSERT_NE(again, nullptr);
    sync::reclaim_ready();
    EXPECT_EQ(found->view(), content(5));
    EXPECT_EQ(again->view(), content(5));
    EXPECT_EQ(word_of(guides_[5]), guides::marked(old_word));
    EXPECT_EQ(word_of(moved), new_word);
    const bytes* const itself = moved.get(inside);
    EXPECT_EQ(itself->view(), content(5));
    EXPECT_EQ(itself, address(moved));
    // The old object is retired and not freed: this scope has the old slot.
    EXPECT_EQ(guides_[5].get(inside)->view(), content(5));
  }
  moved.finish_relocation();
  guides_[5].slot().store_relaxed(0);  // the node's destructor is not run
}

struct counter {
  explicit counter(std::uint64_t number) : value(number) {}
  std::uint64_t value;
};

// Were a copy given, what is written to it would be lost.
TEST_F(LoggedUses, AnOldSlotOfWhatIsWrittenAndCouldNotBeReadGivesNothing) {
  guide<counter> held(testing_help::object_in_cold<counter>(7));
  let_leave();
  os::set_fault_hook([](os::io_call call) { return call == os::io_call::read ? EIO : 0; });
  guide<counter> moved(relocation{}, held);
  os::set_fault_hook({});
  moved.finish_relocation();
  {
    access inside;
    EXPECT_EQ(held.get(inside), nullptr);
    EXPECT_EQ(inside.result(), access::outcome::unreadable);
    inside.begin();
    EXPECT_EQ(moved.get(inside)->value, 7u);
    EXPECT_EQ(inside.result(), complete);
  }
  held.slot().store_relaxed(0);  // the node's destructor is not run
}

TEST_F(LoggedUses, WhereHotIsFullAUseEndsAndFindsItLater) {
  guide<counter> in_memory(testing_help::object_in_cold<counter>(7));
  const guide<bytes> immutable(testing_help::bytes_in_cold("in memory"));
  const auto use_all = [&](bool is_there) {
    const scope inside;
    access own;
    EXPECT_EQ(guides_[5].get(inside) != nullptr, is_there);
    EXPECT_EQ(guides_[6].get(own) != nullptr, is_there);
    EXPECT_EQ(guides_[7].peek(own) != nullptr, is_there);
    EXPECT_EQ(in_memory.get(own) != nullptr, is_there);
    EXPECT_EQ(own.result(), is_there ? complete : access::outcome::unreadable);
    EXPECT_EQ(immutable.get(inside)->view(), "in memory") << "it needs no room";
  };
  {
    const full_hot full;
    use_all(false);
    access copies(kWait, nullptr, kCopies);
    EXPECT_EQ(guides_[60].get(copies)->view(), content(60)) << "a copy needs no room there";
    EXPECT_EQ(copies.result(), complete);
  }
  use_all(true);
  const scope inside;
  EXPECT_EQ(guides_[5].get(inside)->view(), content(5));
  EXPECT_EQ(in_memory.get(inside)->value, 7u);
}

TEST_F(LoggedUses, WhatCannotBeReadNowIsNullAndIsThereLater) {
  guide<counter> counts(testing_help::object_in_cold<counter>(7));
  let_leave();
  for (static int error = 0; const int each : {EIO, ENOMEM, EINVAL}) {
    error = each;
    os::set_fault_hook([](os::io_call call) { return call == os::io_call::read ? error : 0; });
    const std::uint64_t lost = heap::lost_reads();
    {
      const scope inside;
      EXPECT_EQ(guides_[5].get(inside), nullptr);
      EXPECT_EQ(counts.get(inside), nullptr);
      access own;
      EXPECT_EQ(guides_[5].peek(own), nullptr);
      EXPECT_EQ(own.result(), access::outcome::unreadable);
    }
    EXPECT_EQ(heap::lost_reads(), lost + (each == EIO ? 3 : 0)) << "the disk's failures alone";
    os::set_fault_hook({});
  }
  const scope inside;
  EXPECT_EQ(guides_[5].get(inside)->view(), content(5));
  EXPECT_EQ(counts.get(inside)->value, 7u);
}

}  // namespace
}  // namespace isotherm
