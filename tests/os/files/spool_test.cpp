// Pipes and other descriptors: what they are called, and waits for them that an interrupt ends.
#include "os/files/spool.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "os/faults.hpp"
#include "os/files/file_system.hpp"
#include "os/files/paths.hpp"
#include "os/files/pending_file.hpp"
#include "sort/scratch.hpp"

namespace isotherm::os {
namespace {

using testing::scratch;
using testing::store;

/// A pipe, both ends as files.
struct pipe_ends {
  pipe_ends() {
    int fd[2];
    EXPECT_EQ(::pipe2(fd, O_CLOEXEC), 0);
    number = fd[1];
    read = std::move(*file::of_descriptor(fd[0], "the pipe"));
    write = std::move(*file::of_descriptor(fd[1], "the pipe"));
    ::close(fd[0]);
  }
  ~pipe_ends() { ::close(number); }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  int number;
  file read, write;
};

/// A stop that is requested when the token was looked at `waits` times.
struct late_stop {
  explicit late_stop(int waits) {
    set_fault_hook([this, waits](io_call c) mutable {
      if (c == io_call::wait && --waits == 0) source.request_stop();
      return 0;
    });
  }
  ~late_stop() { set_fault_hook({}); }
  late_stop(const late_stop&) = delete;
  late_stop& operator=(const late_stop&) = delete;
  std::stop_source source;
};

TEST(Spool, AnInterruptJustBeforeTheWaitIsNotLost) {
  const scratch dir;
  const pipe_ends pipe;
  late_stop stop(1);
  auto r = spool(pipe.read, dir.path(), stop.source.get_token());
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, EINTR);
}

// The pipe is widened to a mebibyte; the first wait finds it empty, the second finds it full.
TEST(Spool, AFullPipeIsNotWaitedForInTheWrite) {
  const scratch dir;
  const pipe_ends pipe;
  store(dir.file("in"), std::string((1 << 20) + 1, 'x'));
  auto in = file::open(dir.file("in"));
  ASSERT_TRUE(in);
  late_stop stop(2);
  const auto to = pipe.write.in_order(stop.source.get_token());
  ASSERT_TRUE(to);
  auto r = pour(*in, *to);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, EINTR);
}

TEST(Spool, DescriptorsOfThisProcessAreKnownByAllTheirNames) {
  const scratch dir;
  const pipe_ends pipe;
  const std::string number = std::to_string(pipe.number);
  const std::string process = "/proc/" + std::to_string(::getpid());
  const std::string thread = "/task/" + std::to_string(::syscall(SYS_gettid));
  ASSERT_EQ(::symlink(("/proc/thread-self/fd/" + number).c_str(), dir.file("link").c_str()), 0);
  for (const std::string& name :
       {"/dev/fd/" + number, "/proc/self/fd/" + number, "/proc/thread-self/fd/" + number,
        process + "/fd/" + number, process + thread + "/fd/" + number,
        "/proc/self" + thread + "/fd/" + number, dir.file("link")}) {
    EXPECT_EQ(named_descriptor(name), pipe.number) << name;
  }
  for (const std::string& name : {std::string("/proc/1/fd/1"), std::string("/proc/self/fd"),
                                  std::string("/proc/self/fd/x"), dir.file("none")}) {
    EXPECT_FALSE(named_descriptor(name)) << name;
  }
}

// They are open files; what replaces the file that one names would not reach it.
TEST(Spool, LinksOfProcAreNotFollowedToWhatTheyName) {
  const scratch dir;
  store(dir.file("out"), "old");
  auto f = file::open(dir.file("out"));
  ASSERT_TRUE(f);
  const std::string name = "/proc/self/fd/" + std::to_string(f->descriptor());
  EXPECT_EQ(link_target(name), name);
  EXPECT_FALSE(free_space("/proc/self/fd"));
}

TEST(Spool, ADescriptorThatCannotBeWrittenIsRefusedAtOnce) {
  const pipe_ends pipe;
  const std::string name = "/dev/fd/" + std::to_string(pipe.read.descriptor());
  EXPECT_FALSE(pending_file::create(name));
  EXPECT_TRUE(pending_file::create("/dev/fd/" + std::to_string(pipe.number)));
}

}  // namespace
}  // namespace isotherm::os
