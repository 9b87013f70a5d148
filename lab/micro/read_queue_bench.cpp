// The cost of a read past the page cache, by how many are asked for at a time: time is the elapsed
// time of a read, cpu that of the process. On a virtual machine most of it is the request to the
// device and the interrupt, of which reads that are asked for together share one.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "base/page.hpp"
#include "base/random.hpp"
#include "os/disk/read_queue.hpp"

namespace {

using namespace isotherm;
constexpr std::size_t kFilePages = std::size_t{1} << 17;  // 512 MiB

/// A file in /var/tmp with something in each page.
os::file make_file() {
  auto made = os::file::unnamed("/var/tmp", "a file to read");
  if (!made) std::abort();
  const std::vector<std::byte> piece(std::size_t{1} << 20, std::byte{1});
  for (std::size_t at = 0; at < kFilePages * base::kPageBytes; at += piece.size()) {
    if (!made->write(piece, at)) std::abort();
  }
  return std::move(*made);
}

void read_pages(benchmark::State& state, os::read_queue::engine engine) {
  static const os::file file = make_file();
  const auto at_once = static_cast<std::size_t>(state.range(0));
  auto queue = os::read_queue::open(file, engine);
  if (!queue) return state.SkipWithError("no queue");
  struct frees {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  const std::unique_ptr<std::byte, frees> memory(
      static_cast<std::byte*>(std::aligned_alloc(base::kPageBytes, at_once * base::kPageBytes)));
  std::vector<os::queued_read> reads(at_once);
  base::random random(1);
  for (auto _ : state) {
    for (std::size_t i = 0; i < at_once; ++i) {
      reads[i] = {.to = memory.get() + i * base::kPageBytes,
                  .offset = random.below(kFilePages) * base::kPageBytes,
                  .bytes = base::kPageBytes};
      (*queue)->start(reads[i]);
    }
    (*queue)->submit();
    while ((*queue)->under_way() > 0) {
      (*queue)->wait(-1);
      (*queue)->acknowledge();
      while ((*queue)->take_ended() != nullptr) continue;
    }
  }
  state.counters["cpu_a_read"] = benchmark::Counter(
      static_cast<double>(state.iterations() * static_cast<std::int64_t>(at_once)),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(read_pages, io_uring, os::read_queue::engine::best)
    ->Arg(1)
    ->Arg(2)
    ->Arg(8)
    ->Arg(32)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(read_pages, threads, os::read_queue::engine::threads)
    ->Arg(1)
    ->Arg(8)
    ->Arg(32)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
