// Pipes and other descriptors: what they are called, and waits for them that an interrupt ends.
#include "device/spool.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "device/pending_file.hpp"
#include "sort/scratch.hpp"

namespace isotherm::device {
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

/// An interrupt that comes when the flag was looked at `waits` times.
struct late_interrupt {
  explicit late_interrupt(int waits) {
    set_fault_hook([this, waits](io_call c) mutable {
      if (c == io_call::wait && --waits == 0) flag.store_relaxed(true);
      return 0;
    });
  }
  ~late_interrupt() { set_fault_hook({}); }
  late_interrupt(const late_interrupt&) = delete;
  late_interrupt& operator=(const late_interrupt&) = delete;
  base::atomic<bool> flag{false};
};

TEST(Spool, AnInterruptJustBeforeTheWaitIsNotLost) {
  const scratch dir;
  const pipe_ends pipe;
  late_interrupt interrupt(1);
  auto r = spool(pipe.read, dir.path(), &interrupt.flag);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, EINTR);
}

TEST(Spool, APipeWithLittleRoomIsNotWaitedForInTheWrite) {
  const scratch dir;
  const pipe_ends pipe;
  const int room = ::fcntl(pipe.number, F_GETPIPE_SZ);
  store(dir.file("in"), std::string(static_cast<std::size_t>(room) + 1, 'x'));
  auto in = file::open(dir.file("in"));
  ASSERT_TRUE(in);
  const int writes = (room + static_cast<int>(file::kNoWait) - 1) / static_cast<int>(file::kNoWait);
  late_interrupt interrupt(writes + 1);
  auto r = pour(*in, pipe.write, &interrupt.flag);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, EINTR);
}

}  // namespace
}  // namespace isotherm::device
