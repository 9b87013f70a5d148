// To be preloaded: makes all threads of a process nap at random (naps.hpp), those of a server,
// which knows nothing of it, and its collector's. ISOTHERM_TEST_SEED is the seed.
#include <dirent.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "linearizability/naps.hpp"

namespace isotherm::naps {
namespace {

/// The process's threads but the calling one.
std::vector<pid_t> other_threads() {
  std::vector<pid_t> found;
  DIR* const tasks = ::opendir("/proc/self/task");
  if (!tasks) return found;
  const auto own = static_cast<pid_t>(::syscall(SYS_gettid));
  while (const dirent* each = ::readdir(tasks)) {
    pid_t thread = 0;  // of "." and ".."
    std::from_chars(each->d_name, each->d_name + std::strlen(each->d_name), thread);
    if (thread > 0 && thread != own) found.push_back(thread);
  }
  ::closedir(tasks);
  return found;
}

void* run(void*) {
  sigset_t all;  // the process's signals are for its own threads
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  constexpr int kSignalsALook = 64;  // threads come and go seldom
  base::random random(seed.load());
  for (;;) {
    const std::vector<pid_t> threads = other_threads();
    for (int i = 0; i < kSignalsALook; ++i) {
      // One that has ended meanwhile is not found: nothing happens.
      ::syscall(SYS_tgkill, ::getpid(), threads[random.below(threads.size())], kSignal);
      wait_a_little();
    }
  }
}

[[gnu::constructor]] void begin() {
  const char* const chosen = std::getenv("ISOTHERM_TEST_SEED");
  pthread_t thread;
  if (!install(chosen ? std::strtoull(chosen, nullptr, 10) : 0) ||
      ::pthread_create(&thread, nullptr, &run, nullptr) != 0) {
    std::abort();
  }
}

}  // namespace
}  // namespace isotherm::naps
