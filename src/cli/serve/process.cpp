#include "cli/serve/process.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fstream>

#include "cli/fail.hpp"
#include "heap/allocator.hpp"
#include "os/files/file_system.hpp"
#include "os/memory/process_memory.hpp"
#include "server/log.hpp"
#include "store/memory.hpp"

namespace isotherm::cli {

namespace {
constexpr std::chrono::seconds kGivesFreePagesBackWithin{1};
/// Bytes that the store needs beside the program itself, for open extents and clients' buffers.
constexpr std::uint64_t kLeastToWorkWith = std::uint64_t{8} << 20;
}  // namespace

void fit_descriptors(server::options& chosen, std::uint64_t others) {
  // Standard streams, listeners, the cold file, /proc; an epoll set and a wake-up a thread.
  const std::uint64_t own = 32 + 2 * std::uint64_t{chosen.threads} + others;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  if (limit.rlim_cur < chosen.maxclients + own) {
    limit.rlim_cur = std::min<rlim_t>(chosen.maxclients + own, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur >= chosen.maxclients + own) return;
  if (limit.rlim_cur <= own) {
    fail(
        fmt::format("the limit of open files is {}, but more than {} are needed: raise it "
                    "(ulimit -n) or give fewer --threads",
                    limit.rlim_cur, own));
  }
  chosen.maxclients = limit.rlim_cur - own;
  server::log(server::log_level::warning,
              fmt::format("limit of open files is {}: taking {} clients at most", limit.rlim_cur,
                          chosen.maxclients));
}

void set_up_allocator(const server::options& chosen) {
  if (chosen.maxmemory_bytes != 0 && !store::counts_allocations()) {
    fail(
        "--maxmemory counts what jemalloc hands out, but another allocator was preloaded: start "
        "without LD_PRELOAD, or without --maxmemory");
  }
  if (heap::is_allocator_ours()) heap::give_free_pages_back(kGivesFreePagesBackWithin);
}

void check_target(std::uint64_t target_bytes) {
  const std::uint64_t own = os::read_resident_set().all_bytes;
  if (target_bytes != 0 && own == 0) {
    fail("--memory-target needs /proc, which says how much memory is in use: mount it");
  }
  if (target_bytes == 0 || target_bytes >= own + kLeastToWorkWith) return;
  fail(fmt::format("--memory-target is {} bytes, but the program alone takes {}: give {} or more",
                   target_bytes, own, own + kLeastToWorkWith));
}

sigset_t block_signals() {
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a log over the limit of file sizes loses lines, not the data
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return ending;
}

pid_file::pid_file(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  std::ofstream file(path_);
  file << ::getpid() << '\n';
  file.flush();
  if (!file) fail(base::system_error("cannot write the pid file " + path_, errno).message);
}

pid_file::~pid_file() {
  if (!path_.empty()) os::remove_file(path_);
}

}  // namespace isotherm::cli
