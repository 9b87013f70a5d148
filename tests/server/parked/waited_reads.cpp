#include "server/parked/waited_reads.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <string_view>

namespace {

std::atomic<std::uint64_t> of_all{0};
thread_local std::uint64_t of_this_thread = 0;

/// Returns whether the thread is one of a queue of reads, which nothing waits for.
bool is_queues_thread() noexcept {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return std::string_view(name.data()) == "iso-reads";
}

}  // namespace

// Stands before the C library's.
extern "C" ssize_t pread(int file, void* to, size_t bytes, off_t offset) {
  static const auto real = reinterpret_cast<decltype(&pread)>(dlsym(RTLD_NEXT, "pread"));
  const int flags = fcntl(file, F_GETFL);
  if (flags >= 0 && (flags & O_DIRECT) != 0 && !is_queues_thread()) {  // past the page cache
    ++of_all;
    ++of_this_thread;
  }
  return real(file, to, bytes, offset);
}

namespace isotherm::server {

std::uint64_t waited_reads() noexcept { return of_all; }
std::uint64_t waited_reads_here() noexcept { return of_this_thread; }

}  // namespace isotherm::server
