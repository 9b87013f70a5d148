// Objects with a destructor that end while they lie in COLD, in a file.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <vector>

#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "guide/marked.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/cold_file.hpp"
#include "heap/usage.hpp"
#include "os/faults.hpp"

namespace isotherm {
namespace {

using heap::kind;

/// Its destructor stores to the object, as those of many types do.
struct kept {
  explicit kept(std::uint64_t given) : number(given), again(given) {}
  ~kept() {
    ++destroyed;
    if (number == again) sum += number;
    number = 0;
  }
  kept(const kept&) = delete;
  kept& operator=(const kept&) = delete;
  std::uint64_t number, again;
  static inline std::atomic<std::uint64_t> destroyed{0}, sum{0};
};

}  // namespace

template <>
struct is_trivially_relocatable<kept> : std::true_type {};

namespace {

class LoggedDestroyed : public testing::Test {
 protected:
  static constexpr std::uint64_t kCount = 300;

  static void SetUpTestSuite() { testing_help::cold_in_a_file(); }
  LoggedDestroyed() : objects_(objects()) {
    for (std::uint64_t i = 1; i <= kCount; ++i) {
      guides_.emplace_back(testing_help::object_in_cold<kept>(i));
    }
    kept::destroyed = kept::sum = 0;
  }
  ~LoggedDestroyed() override { os::set_fault_hook({}); }
  static void let_leave() {
    testing_help::close_cold_extents();
    testing_help::page_out_all();
    sync::reclaim_ready();
  }
  static std::uint64_t objects() {
    return heap::usage_of(kind::cold, heap::residency::left_out).objects;
  }
  static void* address(const guide<kept>& g) { return guides::pointer_of(g.slot().load_relaxed()); }
  /// In each way in which a guide's object ends.
  void end_all() {
    {
      const scope inside;
      for (std::size_t i = 0; i < kCount; i += 3) ASSERT_TRUE(guides_[i].clear(inside));
      for (std::size_t i = 1; i < kCount; i += 3) {
        ASSERT_TRUE(guides_[i].replace(inside, make_object_in<kept>(kind::newborn, 0U)));
      }
    }
    sync::reclaim_ready();
    for (std::size_t i = 2; i < kCount; i += 3) guides_[i].reset();
  }

  void end_all_once() {
    end_all();
    EXPECT_EQ(kept::destroyed, kCount);
    EXPECT_EQ(kept::sum, kCount * (kCount + 1) / 2);
    EXPECT_EQ(objects(), objects_);
  }

  std::uint64_t objects_;
  std::vector<guide<kept>> guides_;
};

TEST_F(LoggedDestroyed, EachOnceWithItsBytesWhereItIsOut) {
  let_leave();
  ASSERT_TRUE(heap::is_out(address(guides_[0])));
  end_all_once();
}

TEST_F(LoggedDestroyed, EachOnceWithItsBytesWhereItIsInMemory) {
  ASSERT_FALSE(heap::is_out(address(guides_[0])));
  end_all_once();
}

TEST_F(LoggedDestroyed, NoneIsWhereTheDiskFailsAndTheRoomIsFree) {
  let_leave();
  os::set_fault_hook([](os::io_call call) { return call == os::io_call::read ? EIO : 0; });
  end_all();
  EXPECT_EQ(kept::destroyed, 0u);
  EXPECT_EQ(objects(), objects_);
}

// A destructor's stores and the write of the object's extent meet (ThreadSanitizer sees it).
TEST_F(LoggedDestroyed, BesideTheWriteOfTheirExtents) {
  std::vector<guide<kept>> more;
  more.reserve(100'000);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    more.emplace_back(testing_help::object_in_cold<kept>(1));
  }
  testing_help::close_cold_extents();
  std::atomic<bool> is_running{false};
  std::thread ends([&] {
    is_running = true;
    for (std::size_t i = 0; i < more.size(); i += 100) more[i].reset();
  });
  while (!is_running) std::this_thread::yield();
  testing_help::page_out_all();
  ends.join();
  sync::reclaim_ready();
  EXPECT_EQ(kept::destroyed, more.size() / 100);
  EXPECT_EQ(kept::sum, more.size() / 100);
}

TEST_F(LoggedDestroyed, AMarkedFieldHandsOverAndDiscardsWhatIsOut) {
  marked<kept> one, other;
  one = testing_help::object_in_cold<kept>(7).release();
  let_leave();
  ASSERT_TRUE(one != nullptr);
  kept* const gone = one.release();
  ASSERT_TRUE(heap::is_out(gone));
  other = gone;
  EXPECT_TRUE(heap::is_out(gone));
  {
    const scope inside;
    EXPECT_EQ(other->number, 7u);
  }
  discard(other);
  sync::reclaim_ready();
  EXPECT_EQ(kept::destroyed, 1u);
  EXPECT_EQ(kept::sum, 7u);
}

}  // namespace
}  // namespace isotherm
