// Peers: a file of 100-byte records is read into memory, sorted there in place by a library, and
// written. Usage: library_sorts std|tbb|boost THREADS IN OUT
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/sort/sort.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_sort.h>

namespace {

struct record {
  char bytes[100];
  friend bool operator<(const record& a, const record& b) {
    return std::memcmp(a.bytes, b.bytes, 10) < 0;
  }
};

[[noreturn]] void give_up(const char* call) {
  std::perror(call);
  std::exit(1);
}

/// Moves all of the file in `threads` parts by `call`, which is pread or pwrite.
template <class Call, class Byte>
void transfer(Call call, int fd, Byte* data, std::size_t bytes, unsigned threads) {
  std::vector<std::jthread> pool;
  pool.reserve(threads);
  for (unsigned t = 0; t < threads; ++t) {
    pool.emplace_back([=] {
      std::size_t at = bytes / threads * t;
      const std::size_t end = t + 1 == threads ? bytes : bytes / threads * (t + 1);
      while (at < end) {
        const auto n = call(fd, data + at, end - at, static_cast<off_t>(at));
        if (n <= 0) give_up("library_sorts");
        at += static_cast<std::size_t>(n);
      }
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: library_sorts std|tbb|boost THREADS IN OUT\n", stderr);
    return 2;
  }
  const std::string_view how = argv[1];
  unsigned threads = 0;
  std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), threads);
  threads = std::max(1u, threads);
  const int in = ::open(argv[3], O_RDONLY);
  struct stat s;
  if (in < 0 || ::fstat(in, &s) != 0) give_up(argv[3]);
  const auto bytes = static_cast<std::size_t>(s.st_size);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) give_up("memory");
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  char* data = static_cast<char*>(memory);
  transfer(::pread, in, data, bytes, threads);
  record* first = static_cast<record*>(memory);
  record* last = first + bytes / sizeof(record);
  if (how == "std") {
    std::sort(first, last);
  } else if (how == "tbb") {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::parallel_sort(first, last);
  } else {
    boost::sort::block_indirect_sort(first, last, threads);
  }
  const int out = ::open(argv[4], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (out < 0) give_up(argv[4]);
  transfer(::pwrite, out, data, bytes, threads);
  return ::close(out) == 0 ? 0 : 1;
}
