#include "lab/backends/system/child_process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace isotherm::lab {
namespace {

TEST(ChildProcess, TalksInLines) {
  auto child = child_process::start([](line_channel& parent) {
    parent.send("ready");
    parent.send("got " + parent.next());
  });
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(child->channel().next(), "ready");
  child->channel().send("word");
  EXPECT_EQ(child->channel().next(), "got word");
  EXPECT_EQ(child->channel().next(), "");
  EXPECT_FALSE(child->channel().is_open());
}

TEST(ChildProcess, IsKilledWithItsHandle) {
  pid_t pid = 0;
  {
    auto child = child_process::start([](line_channel& parent) { parent.next(); });
    ASSERT_TRUE(child);
    pid = child->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST(ChildProcess, KeepsNoOtherDescriptor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto child = child_process::start([](line_channel& parent) { parent.next(); });
  ASSERT_TRUE(child);
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0) << "the child holds the writing end";
  close(ends[0]);
}

TEST(ChildProcess, DoesNotOutliveItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    // Standard output is the one descriptor besides its channel that the grandchild keeps open.
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    auto child = child_process::start([](line_channel& channel) {
      channel.send("runs");
      for (;;) pause();
    });
    if (!child || child->channel().next() != "runs") _exit(1);
    raise(SIGKILL);
  }
  close(ends[1]);
  int status = 0;
  waitpid(parent, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);  // waits until the grandchild is gone
  close(ends[0]);
}

}  // namespace
}  // namespace isotherm::lab
