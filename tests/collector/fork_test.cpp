#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/collector.hpp"

namespace isotherm::collector {
namespace {

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

}  // namespace
}  // namespace isotherm::collector
