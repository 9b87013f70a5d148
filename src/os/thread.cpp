#include "os/thread.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "os/faults.hpp"
#include "os/scheduling.hpp"

namespace isotherm::os {

namespace {

/// Acts on the calling thread, whose policy and nice value stay. If the kernel refuses, or has no
/// such slices, nothing changes.
void ask_for_long_slices() noexcept {
  constexpr std::uint64_t kSliceNs = 10'000'000;
  constexpr pid_t kSelf = 0;
  constexpr unsigned kNoFlags = 0;
  scheduling_attributes mine = read_scheduling(kSelf);
  if (mine.size == 0 || (mine.policy != SCHED_OTHER && mine.policy != SCHED_BATCH)) return;
  mine.runtime_ns = kSliceNs;
  ::syscall(SYS_sched_setattr, kSelf, &mine, kNoFlags);
}

}  // namespace

base::result<thread> start_thread(const char* name, std::function<void()> body, scheduling how) {
  int code = injected_thread_fault();
  if (code == 0) {
    try {
      return thread(std::jthread([name, how, body = std::move(body)] {
        ::prctl(PR_SET_NAME, name);
        if (how == scheduling::preempted) ask_for_long_slices();
        body();
      }));
    } catch (const std::system_error& refused) {
      code = refused.code().value();
    } catch (const std::bad_alloc&) {
      code = ENOMEM;
    }
  }
  auto e = base::system_error("cannot start a thread", code);
  e.message += ": allow more processes and memory (ulimit -u and -v, or the container's limits)";
  return std::unexpected(std::move(e));
}

}  // namespace isotherm::os
