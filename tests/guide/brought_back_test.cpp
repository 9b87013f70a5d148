// Objects that are out where COLD has no file: they come back to DRAM, and may have left again when
// they are used. Tests say by hand which objects are out.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "heap/anonymous_cold.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/reader.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/packed/extent.hpp"
#include "heap/ranges.hpp"

namespace isotherm {
namespace {

[[maybe_unused]] const auto* const cold_is_anonymous = testing_help::with_anonymous_cold();

using heap::kind;

class BroughtBack : public testing::TestWithParam<access::copies> {
 protected:
  void say_out() {
    auto& cold = heap::heaps().cold();
    const void* const object = guides::pointer_of(guide_.slot().load_relaxed());
    cold.mark_out(cold.place_of(object).offset / heap::kExtentBytes, 1);
    ASSERT_TRUE(heap::is_out(object));
  }
  /// Returns what a thread that does not wait for reads finds, and fills `missed`.
  std::string use(std::vector<heap::miss>& missed) {
    access inside(access::when_cold::record, &arrived_, GetParam());
    const bytes* const got = guide_.get(inside);
    std::string content(got != nullptr ? got->view() : "nothing");
    missed = inside.take_misses();
    return content;
  }
  void fetch() {
    std::vector<heap::miss> missed;
    EXPECT_EQ(use(missed), "nothing");
    ASSERT_EQ(missed.size(), 1u);
    const auto reader = std::move(*heap::cold_reader::make());
    const auto read = reader->read(std::move(missed.front()), 1);
    reader->submit();
    while (!read->has_ended()) {
      reader->wait(-1);
      reader->take_ended([](std::uint64_t) {});
    }
    arrived_.add(read);
    read_ = read;
  }

  guide<bytes> guide_{testing_help::bytes_in_cold("value")};
  heap::arrived_reads arrived_;
  heap::arrived_reads::read read_;
};
INSTANTIATE_TEST_SUITE_P(Uses, BroughtBack,
                         testing::Values(access::copies::allowed, access::copies::refused),
                         [](const auto& info) {
                           return info.param == access::copies::allowed ? "Copies" : "Objects";
                         });

TEST_P(BroughtBack, IsUsedWhereItIs) {
  say_out();
  fetch();
  std::vector<heap::miss> missed;
  EXPECT_EQ(use(missed), "value");
  EXPECT_TRUE(missed.empty());
  EXPECT_EQ(guides::heap_of(guide_.slot().load_relaxed()), kind::cold);
}

TEST_P(BroughtBack, IsWaitedForWhenItHasLeftAgain) {
  say_out();
  fetch();
  say_out();
  const std::uint64_t lost = heap::lost_reads();
  {
    access never(access::when_cold::record, &arrived_, GetParam());
    EXPECT_EQ(guide_.get(never), nullptr);
    EXPECT_EQ(never.result(), access::outcome::must_wait);
    const heap::handed_over to_this(read_);
    const auto tried = guide_.try_get(never.scope());
    ASSERT_TRUE(tried);
    EXPECT_EQ((*tried)->view(), "value");
  }
  say_out();
  access waits(access::when_cold::wait, &arrived_, GetParam());
  EXPECT_EQ(guide_.get(waits)->view(), "value");
  EXPECT_EQ(waits.result(), access::outcome::complete);
  EXPECT_EQ(heap::lost_reads(), lost);
}

}  // namespace
}  // namespace isotherm
