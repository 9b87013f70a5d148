#include "device/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>

#include "base/atomic.hpp"
#include "base/random.hpp"
#include "device/buffer.hpp"
#include "device/io.hpp"
#include "device/pool.hpp"
#include "os/clock.hpp"

namespace isotherm::device {
namespace {

constexpr unsigned kStreams[] = {1, 2, 4, 5, 8, 16};
constexpr std::uint64_t kSizes[] = {64, 256, 1024, 4096, 65536, 1 << 20};
constexpr std::size_t kBatchBytes = 256 << 10;

class prober {
 public:
  prober(const probe_options& o, emulation* e, file data, file sink)
      : options_(o), emulation_(e), data_(std::move(data)), sink_(std::move(sink)) {}

  base::result<void> fill();
  /// Bytes a second of `streams` threads, with `writers` others writing all the while.
  double measure(access kind, unsigned streams, std::uint64_t bytes, unsigned writers = 0);
  curve measure_curve(access kind, std::uint64_t bytes);
  const std::optional<base::error>& error() const noexcept { return error_; }

 private:
  std::uint64_t one_batch(access kind, std::uint64_t bytes, base::random& random, stream& s,
                          std::span<std::byte> buffer);
  void keep(const base::result<void>& r) {
    if (r) return;
    const std::lock_guard guard(lock_);
    if (!error_) error_ = r.error();
  }

  const probe_options& options_;
  emulation* emulation_;
  file data_, sink_;
  mapping map_;
  std::mutex lock_;  // guards error_ while threads run
  std::optional<base::error> error_;
};

base::result<void> prober::fill() {
  std::vector<std::byte> block(1 << 20);
  base::random random(1);
  for (auto& b : block) b = static_cast<std::byte>(random());
  for (std::uint64_t at = 0; at < options_.file_bytes; at += block.size()) {
    if (auto r = data_.write(block, at); !r) return r;
    if (auto r = sink_.write(block, at); !r) return r;
  }
  auto m = mapping::map(data_, options_.file_bytes, false);
  if (!m) return std::unexpected(m.error());
  map_ = std::move(*m);
  return {};
}

/// About 256 KiB of accesses, charged together; returns the useful bytes.
std::uint64_t prober::one_batch(access kind, std::uint64_t bytes, base::random& random, stream& s,
                                std::span<std::byte> buffer) {
  s.begin();
  if (kind != access::random_read) {
    const std::uint64_t at = random.below(options_.file_bytes / buffer.size()) * buffer.size();
    keep(kind == access::write ? sink_.write(buffer, at) : data_.read(buffer, at));
    s.charge(1, buffer.size());
    return buffer.size();
  }
  const std::uint64_t count = std::max<std::uint64_t>(1, buffer.size() / bytes);
  const std::uint64_t places = options_.file_bytes / std::max<std::uint64_t>(bytes, 64);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = random.below(places) * std::max<std::uint64_t>(bytes, 64);
    std::copy_n(map_.data() + at, bytes, buffer.data() + i * bytes % (buffer.size() - bytes + 1));
  }
  s.charge(count, bytes);
  return count * bytes;
}

double prober::measure(access kind, unsigned streams, std::uint64_t bytes, unsigned writers) {
  base::atomic<bool> stop{false};
  base::atomic<std::uint64_t> moved{0};
  base::atomic<unsigned> ready{0};
  const auto work = [&](unsigned t, access how, bool counts) {
    std::vector<std::byte> buffer(std::max<std::uint64_t>(kBatchBytes, bytes));
    base::random random(t + 1);
    stream s(emulation_, how);
    ready.fetch_add_acq_rel(1);
    while (ready.load_acquire() < streams + writers) std::this_thread::yield();
    s.begin();
    while (!stop.load_relaxed()) {
      const std::uint64_t n = one_batch(how, bytes, random, s, buffer);
      if (counts && !stop.load_relaxed()) moved.fetch_add_relaxed(n);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < streams; ++t) threads.emplace_back(work, t, kind, true);
  for (unsigned t = 0; t < writers; ++t) {
    threads.emplace_back(work, streams + t, access::write, false);
  }
  while (ready.load_acquire() < streams + writers) std::this_thread::yield();
  // The first accesses of all threads are in flight: they do not count.
  std::this_thread::sleep_for(std::chrono::duration<double>(options_.point_seconds / 4));
  const std::uint64_t before = moved.load_relaxed();
  const std::uint64_t start = os::monotonic_ns();
  std::this_thread::sleep_for(std::chrono::duration<double>(options_.point_seconds));
  const std::uint64_t after = moved.load_relaxed();
  const double seconds = static_cast<double>(os::monotonic_ns() - start) * 1e-9;
  stop.store_relaxed(true);
  threads.clear();
  return static_cast<double>(after - before) / seconds;
}

curve prober::measure_curve(access kind, std::uint64_t bytes) {
  curve c;
  for (const unsigned n : kStreams) c.push_back({n, measure(kind, n, bytes)});
  return c;
}

}  // namespace

base::result<profile> probe(const std::string& directory, const probe_options& o) {
  profile p{.path = directory,
            .device = o.emulated.empty() ? "measured" : o.emulated,
            .sequential_read = {},
            .random_read = {},
            .strided_read = {},
            .write = {},
            .interference = {}};
  std::optional<emulation> emulated;
  if (!o.emulated.empty()) {
    auto m = preset(o.emulated);
    if (!m) return std::unexpected(m.error());
    emulated.emplace(std::move(*m));
  }
  auto room = free_space(directory);
  if (!room) return std::unexpected(room.error());
  if (*room < 2 * o.file_bytes) {
    return std::unexpected(base::error{
        fmt::format("the probe needs {} bytes of free space in {}", 2 * o.file_bytes, directory),
        0});
  }
  auto data = file::unnamed(directory);
  auto sink = file::unnamed(directory);
  if (!data) return std::unexpected(data.error());
  if (!sink) return std::unexpected(sink.error());
  prober it(o, emulated ? &*emulated : nullptr, std::move(*data), std::move(*sink));
  const auto say = [&](std::string_view what) {
    if (o.progress) o.progress(what);
  };
  say("preparing");
  if (auto r = it.fill(); !r) return std::unexpected(r.error());
  say("sequential reads");
  p.sequential_read = it.measure_curve(access::sequential_read, kBatchBytes);
  for (const std::uint64_t bytes : kSizes) {
    say(fmt::format("random reads of {} bytes", bytes));
    p.random_read.push_back({bytes, it.measure_curve(access::random_read, bytes)});
  }
  say("reads of keys");
  p.strided_read = {10, it.measure_curve(access::random_read, 10)};
  say("writes");
  p.write = it.measure_curve(access::write, kBatchBytes);
  say("reads beside writers");
  const unsigned readers = best_streams(p.sequential_read);
  for (const unsigned writers : {0u, 1u, 2u, 4u}) {
    p.interference.push_back(
        {writers, it.measure(access::sequential_read, readers, kBatchBytes, writers)});
  }
  if (it.error()) return std::unexpected(*it.error());
  return p;
}

}  // namespace isotherm::device
