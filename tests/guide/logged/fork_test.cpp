// A fork child and the objects of COLD, whose file is its parent's.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/in_a_child.hpp"
#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "guide/in_place.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/cold_file.hpp"
#include "sync/retire.hpp"

// Around fork() jemalloc holds more locks than ThreadSanitizer's lock-order detector bears: see
// heap/cold/anonymous_test.cpp.
extern "C" const char* __tsan_default_options() { return "detect_deadlocks=0"; }

namespace isotherm {
namespace {

struct kept {
  explicit kept(std::uint64_t given) : number(given) {}
  ~kept() { ++destroyed; }
  kept(const kept&) = delete;
  kept& operator=(const kept&) = delete;
  std::uint64_t number;
  static inline int destroyed = 0;
};

}  // namespace

template <>
struct is_trivially_relocatable<kept> : std::true_type {};

namespace {

class ForkChild : public testing::Test {
 protected:
  static void SetUpTestSuite() { testing_help::cold_in_a_file(); }
  ForkChild() {
    testing_help::close_cold_extents();
    testing_help::page_out_all();
    sync::reclaim_ready();
    number_in_memory_ = guide<long>(testing_help::object_in_cold<long>(8));
    in_memory_ = guide<bytes>(testing_help::bytes_in_cold("in memory"));
    kept_in_memory_ = guide<kept>(testing_help::object_in_cold<kept>(2U));
    kept::destroyed = 0;
  }
  template <class T>
  static bool is_out(const guide<T>& g) {
    return heap::is_out(guides::pointer_of(g.slot().load_relaxed()));
  }

  guide<bytes> out_{testing_help::bytes_in_cold("out")};
  guide<long> number_out_{testing_help::object_in_cold<long>(7)};
  guide<kept> kept_out_{testing_help::object_in_cold<kept>(1U)};
  guide<long> number_in_memory_;
  guide<bytes> in_memory_;
  guide<kept> kept_in_memory_;
};

TEST_F(ForkChild, GetsNothingOfWhatIsOut) {
  ASSERT_TRUE(is_out(out_) && is_out(number_out_));
  EXPECT_TRUE(testing_help::succeeds_in_a_child([this] {
    const scope inside;
    if (out_.get(inside) != nullptr || number_out_.get(inside) != nullptr) return 1;
    if (out_.peek(inside) != nullptr) return 2;
    access own(access::when_cold::wait, nullptr, access::copies::allowed);
    if (out_.get(own) != nullptr || own.result() != access::outcome::unreadable) return 3;
    return 0;
  }));
  const scope inside;
  EXPECT_EQ(out_.get(inside)->view(), "out");
  EXPECT_EQ(*number_out_.get(inside), 7);
}

TEST_F(ForkChild, HasWhatIsInMemory) {
  ASSERT_FALSE(is_out(in_memory_) || is_out(number_in_memory_));
  EXPECT_TRUE(testing_help::succeeds_in_a_child([this] {
    const scope inside;
    const bytes* const found = in_memory_.get(inside);
    if (found == nullptr || found->view() != "in memory") return 1;
    long* const number = number_in_memory_.get(inside);
    if (number == nullptr || *number != 8) return 2;
    write_in_place(*number, 9);
    return *number_in_memory_.get(inside) == 9 ? 0 : 3;
  }));
  const scope inside;
  EXPECT_EQ(*number_in_memory_.get(inside), 8) << "the child has written its own";
}

TEST_F(ForkChild, LetsObjectsGo) {
  ASSERT_TRUE(is_out(kept_out_));
  EXPECT_TRUE(testing_help::succeeds_in_a_child([this] {
    {
      const scope inside;
      if (!out_.clear(inside) || !in_memory_.clear(inside)) return 1;
      if (!number_out_.replace(inside, make_object_in<long>(heap::kind::newborn, 9))) return 2;
      if (*number_out_.get(inside) != 9) return 3;
    }
    kept_out_.reset();
    kept_in_memory_.reset();
    sync::reclaim_ready();
    return kept::destroyed == 1 ? 0 : 4;  // of the one that is in memory
  }));
  const scope inside;
  EXPECT_EQ(out_.get(inside)->view(), "out");
  EXPECT_EQ(kept_out_.get(inside)->number, 1u);
}

// Its parent's pages were written, and scopes that were open keep them in memory.
TEST_F(ForkChild, ReadsOnWhereItsScopeWasOpen) {
  const scope inside;
  const bytes* const found = in_memory_.get(inside);
  testing_help::close_cold_extents();
  testing_help::page_out_all();
  ASSERT_TRUE(is_out(in_memory_));
  EXPECT_TRUE(
      testing_help::succeeds_in_a_child([found] { return found->view() == "in memory" ? 0 : 1; }));
  EXPECT_EQ(found->view(), "in memory");
}

}  // namespace
}  // namespace isotherm
