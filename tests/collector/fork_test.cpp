// Ends and beginnings of processes: forks, and guides whose memory is another's.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <new>
#include <thread>

#include "base/in_a_child.hpp"
#include "collector/collector.hpp"
#include "guide/guide.hpp"
#include "guide/soda.hpp"

namespace isotherm::collector {
namespace {

using testing_help::succeeds_in_a_child;

TEST(CollectorFork, TheChildHasNoCollectorAndSaysSo) {
  options chosen;
  chosen.window_seconds = 60;
  object_collector collector(chosen);
  ASSERT_TRUE(collector.start());
  const pid_t child = fork();
  if (child == 0) {
    const auto again = object_collector(chosen).start();
    const bool told = !again && again.error().message.find("forked") != std::string::npos;
    collector.stop();  // must not wait for a thread that is not there
    _exit(told && !collector.is_running() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(collector.is_running());
}

int refuses_to_start() {
  const auto refused = object_collector({}).start();
  return !refused && refused.error().message.find("forked") != std::string::npos ? 0 : 1;
}

TEST(CollectorFork, AChildOfAProcessWhoseCollectorHasStoppedHasNone) {
  object_collector collector({});
  ASSERT_TRUE(collector.start());
  collector.stop();
  EXPECT_TRUE(succeeds_in_a_child(&refuses_to_start));
  EXPECT_TRUE(collector.start()) << "the parent goes on";
}

TEST(CollectorFork, AChildForkedAmidAWindowByHandIsRefusedAndDoesNotWait) {
  object_collector collector({});
  bool refused = false;
  collector.on_window([&](const auto&) { refused = succeeds_in_a_child(&refuses_to_start); });
  collector.run_window();
  EXPECT_TRUE(refused);
}

TEST(CollectorFork, AChildDestroysACollectorWhoseThreadItDoesNotHave) {
  auto collector = std::make_unique<object_collector>(options{.window_seconds = 1e9});
  ASSERT_TRUE(collector->start());
  for (int i = 0; i < 20; ++i) {  // the thread is perhaps not yet asleep
    EXPECT_TRUE(succeeds_in_a_child([&] {
      collector.reset();
      return 0;
    }));
  }
}

TEST(CollectorFork, AChildAsksAndSetsWhatItsParentsThreadsWereAskingAndSetting) {
  object_collector collector({.window_seconds = 1e9});
  ASSERT_TRUE(collector.start());
  const std::jthread other([&](const std::stop_token& is_over) {
    while (!is_over.stop_requested()) {
      collector.last_window();
      collector.on_window([](const auto&) {});
      EXPECT_TRUE(collector.reconfigure(collector.configuration()));
    }
  });
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(succeeds_in_a_child([&] {
      collector.last_window();
      collector.on_window({});
      return collector.reconfigure(collector.configuration()) ? 0 : 1;
    }));
  }
}

TEST(CollectorFork, AChildIsToldOfNoPages) {
  object_collector collector({.window_seconds = 1e9});
  collector.last_page_uses();
  collector.run_window();
  ASSERT_NE(collector.last_page_uses(), nullptr);
  EXPECT_TRUE(succeeds_in_a_child([&] {
    return !collector.last_page_uses() && !collector.objects_in({0, ~std::uintptr_t{0}}) ? 0 : 1;
  }));
}

/// Forks amid a visit, when the guide's granule is in the collector's hands.
class forking_visitor final : public guides::slot_visitor {
 public:
  explicit forking_visitor(guide<long>& neighbour) : neighbour_(neighbour) {}
  guides::verdict visit(guides::slot_word&) override {
    child = fork();
    if (child == 0) {
      alarm(60);  // ends a child that waits for ever
      neighbour_.reset();
      _exit(0);
    }
    return guides::verdict::keep_due;
  }
  pid_t child = -1;

 private:
  guide<long>& neighbour_;
};

TEST(CollectorFork, TheChildDestroysWhatTheCollectorHadInItsHands) {
  struct alignas(512) granule {
    guide<long> visited{make_object_in<long>(heap::kind::newborn, 1)};
    guide<long> neighbour{make_object_in<long>(heap::kind::newborn, 2)};
  } guides_together;
  forking_visitor visitor(guides_together.neighbour);
  guides::visit_one(&guides_together.visited.slot(), visitor);
  int status = -1;
  ASSERT_EQ(waitpid(visitor.child, &status, 0), visitor.child);
  EXPECT_EQ(status, 0);
}

// A guide whose memory goes without its destructor is found out before it is written.
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
