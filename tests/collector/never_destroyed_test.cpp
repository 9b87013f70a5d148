// A guide whose memory goes without its destructor is found out before it is written.
#include <gtest/gtest.h>

#include <cstdint>
#include <new>

#include "collector/collector.hpp"
#include "guide/guide.hpp"

namespace isotherm::collector {
namespace {

union arena {
  arena() : word(0) {}
  ~arena() {}
  guide<int> held;
  std::uint64_t word;
};

TEST(NeverDestroyedDeathTest, TheCollectorStopsAtWhatIsNoGuide) {
  arena memory;
  ::new (&memory.held) guide<int>(make_guide<int>(1));
  const std::uint64_t word = memory.held.slot().load_relaxed();
  object_collector collector({});
  memory.word = 1000;  // somebody else's, as he thinks
  EXPECT_DEATH(collector.run_window(), "its memory went without its destructor");
  memory.word = ~std::uint64_t{0};
  EXPECT_DEATH(collector.run_window(), "its memory went without its destructor");
  memory.word = word;
  memory.held.~guide();
}

#if !defined(NDEBUG) || defined(ISOTHERM_SANITIZED)
TEST(NeverDestroyedDeathTest, AGuideOverAnotherIsReportedWhereChecksAreOn) {
  arena memory;
  ::new (&memory.held) guide<int>(make_guide<int>(1));
  auto next = make_guide<int>(2);
  EXPECT_DEATH(::new (&memory.held) guide<int>(std::move(next)), "destructor did not run");
  memory.held.~guide();
}
#endif

}  // namespace
}  // namespace isotherm::collector
