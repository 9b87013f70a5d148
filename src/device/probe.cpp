#include "device/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <deque>
#include <mutex>
#include <optional>

#include "base/atomic.hpp"
#include "base/random.hpp"
#include "device/direct.hpp"
#include "device/places.hpp"
#include "device/stream.hpp"
#include "os/clock.hpp"
#include "os/files/file.hpp"
#include "os/files/file_system.hpp"
#include "os/files/mapping.hpp"
#include "os/limits/processors.hpp"
#include "os/thread.hpp"

namespace isotherm::device {
namespace {

constexpr unsigned kEmulatedStreams[] = {1, 2, 4, 5, 8, 16};
constexpr std::size_t kSamples = 5;       // of a point
constexpr std::size_t kLetterRounds = 9;  // of what letters compare
constexpr unsigned kLeastBatches = 8;     // of a sample: what is in flight must not decide it
constexpr std::uint64_t kSizes[] = {64, 256, 1024, 4096, 65536, 1 << 20};
constexpr std::uint64_t kDirectSizes[] = {4096, 65536, 1 << 20};
constexpr std::size_t kBatchBytes = 256 << 10;

/// Bytes that one point of a measurement moves each second.
struct rates {
  double counted = 0;  // by the streams that are measured
  double beside = 0;   // by the writers beside them
  double spread = 0;   // of the samples of `counted`: (highest - lowest) / median
};

/// How sequential reads reach the file; others have one way each.
enum class way { calls, mapping, direct };

constexpr const char* words_for(way w) {
  return w == way::calls ? "" : w == way::mapping ? " through a mapping" : " past the page cache";
}

/// The accesses that a stream makes over and over.
struct pattern {
  access kind;
  std::uint64_t bytes;
  std::uint64_t stride = 0;
  way by = way::calls;
};

rates median_of(std::span<rates> samples) {
  const std::size_t middle = samples.size() / 2;
  std::ranges::sort(samples, {}, &rates::beside);
  const double beside = samples[middle].beside;
  std::ranges::sort(samples, {}, &rates::counted);
  const double counted = samples[middle].counted;
  const double range = samples.back().counted - samples.front().counted;
  return {counted, beside, counted > 0 ? range / counted : 0};
}

class prober {
 public:
  prober(const probe_options& o, emulation* e) : options_(o), emulation_(e) {
    if (e != nullptr) {
      streams_.assign(std::begin(kEmulatedStreams), std::end(kEmulatedStreams));
      return;
    }
    // More threads than processors would measure the scheduler.
    for (unsigned n = 1; n < processors_; n *= 2) streams_.push_back(n);
    streams_.push_back(processors_);
  }

  base::result<void> fill(const std::string& directory);
  /// `streams` threads with accesses of pattern `p`, `writers` others writing all the while: the
  /// median of so many samples.
  rates measure(const pattern& p, unsigned streams, unsigned writers = 0,
                std::size_t samples = kSamples);
  curve measure_curve(const pattern& p);
  std::vector<sized_curve> measure_sizes(access kind, std::span<const std::uint64_t> sizes,
                                         way by = way::calls);
  direct_profile measure_direct();
  /// Reads beside none and then ever more writers.
  std::vector<interference_point> measure_interference(unsigned readers, way by);
  /// Measures the rates that the letters compare, a sample of each in turn.
  letter_rounds measure_letters(const profile& p, unsigned readers);
  /// Readers that leave processors for writers.
  unsigned half() const noexcept { return std::max(1u, processors_ / 2); }
  const std::optional<base::error>& error() const noexcept { return error_; }

 private:
  bool accounts() const noexcept {
    return emulation_ != nullptr && options_.clock == emulation_clock::account;
  }
  rates account(const pattern& p, unsigned streams, unsigned writers);
  rates sample(const base::atomic<std::uint64_t>& moved, const base::atomic<std::uint64_t>& written,
               std::uint64_t least) const;
  std::uint64_t one_batch(const pattern& p, base::random& random, stream& s,
                          std::span<std::byte> buffer);
  std::uint64_t direct_batch(const pattern& p, base::random& random, direct_stream& s);
  void work(const pattern& p, std::uint64_t seed, const base::atomic<bool>& stop,
            base::atomic<std::uint64_t>& moved, const std::function<void()>& wait_for_all);
  void keep(const base::result<void>& r) {
    if (r) return;
    const std::lock_guard guard(lock_);
    if (!error_) error_ = r.error();
  }

  const probe_options& options_;
  emulation* emulation_;
  const unsigned processors_ = os::available_processors();
  std::vector<unsigned> streams_;  // numbers of threads that are measured
  os::file data_, sink_;
  os::mapping map_;
  std::mutex lock_;  // guards error_ while threads run
  std::optional<base::error> error_;
};

base::result<void> prober::fill(const std::string& directory) {
  if (accounts()) return {};
  auto room = os::free_space(directory);
  if (!room) return std::unexpected(room.error());
  if (*room < 2 * options_.file_bytes) {
    return std::unexpected(
        base::error{fmt::format("the probe needs {} bytes of free space in {}, {} are there: free "
                                "some, or take --quick",
                                2 * options_.file_bytes, directory, *room),
                    0});
  }
  auto data = os::file::unnamed(directory);
  auto sink = os::file::unnamed(directory);
  if (!data) return std::unexpected(data.error());
  if (!sink) return std::unexpected(sink.error());
  data_ = std::move(*data);
  sink_ = std::move(*sink);
  std::vector<std::byte> block(1 << 20);
  base::random random(1);
  for (auto& b : block) b = static_cast<std::byte>(random());
  for (std::uint64_t at = 0; at < options_.file_bytes; at += block.size()) {
    if (auto r = data_.write(block, at); !r) return r;
    if (auto r = sink_.write(block, at); !r) return r;
  }
  for (const os::file* f : {&data_, &sink_}) {
    if (auto r = f->sync(); !r) return r;
  }
  auto m = os::mapping::map(data_, options_.file_bytes, os::mapping_access::read_only);
  if (!m) return std::unexpected(m.error());
  map_ = std::move(*m);
  return {};
}

/// Accesses of a batch, which are charged together, and how far apart they lie.
std::uint64_t batch_accesses(const pattern& p) {
  const std::uint64_t apart = std::max(p.bytes, p.stride);
  return std::max<std::uint64_t>(1, kBatchBytes / apart);
}

/// Useful bytes of a batch, which are counted together.
std::uint64_t batch_bytes(const pattern& p) {
  return (p.by == way::direct ? direct_stream::kDepth : batch_accesses(p)) * p.bytes;
}

/// One batch; returns the useful bytes.
std::uint64_t prober::one_batch(const pattern& p, base::random& random, stream& s,
                                std::span<std::byte> buffer) {
  const std::uint64_t count = batch_accesses(p);
  s.begin();
  if (p.kind == access::write || p.kind == access::sequential_read) {
    const std::uint64_t span = count * p.bytes;
    const std::uint64_t at = random.below(options_.file_bytes / span) * span;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::span<std::byte> part = buffer.first(p.bytes);
      if (p.by == way::mapping) {
        std::copy_n(map_.data() + at + i * p.bytes, p.bytes, part.data());
        continue;
      }
      keep(p.kind == access::write ? sink_.write(part, at + i * p.bytes)
                                   : data_.read(part, at + i * p.bytes));
    }
  } else {
    batch_places places(p.kind, p.bytes, p.stride, count, options_.file_bytes, random);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::copy_n(map_.data() + places.next(), p.bytes,
                  buffer.data() + i * p.bytes % (buffer.size() - p.bytes + 1));
    }
  }
  s.touched(count, p.bytes, p.stride);
  return count * p.bytes;
}

std::uint64_t prober::direct_batch(const pattern& p, base::random& random, direct_stream& s) {
  std::array<std::uint64_t, direct_stream::kDepth> offsets;
  const std::uint64_t places = options_.file_bytes / p.bytes;
  const std::uint64_t first = random.below(places - offsets.size() + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = (p.kind == access::random_read ? random.below(places) : first + i) * p.bytes;
  }
  keep(s.transfer(offsets, p.kind == access::write ? direct_stream::direction::write
                                                   : direct_stream::direction::read));
  return offsets.size() * p.bytes;
}

/// Runs in one thread until `stop`.
void prober::work(const pattern& p, std::uint64_t seed, const base::atomic<bool>& stop,
                  base::atomic<std::uint64_t>& moved, const std::function<void()>& wait_for_all) {
  base::random random(seed);
  std::vector<std::byte> buffer(
      p.by == way::direct ? 0 : std::max<std::uint64_t>(kBatchBytes, p.bytes));
  std::optional<direct_stream> direct;
  if (p.by == way::direct) {
    auto opened = direct_stream::open(p.kind == access::write ? sink_ : data_, p.bytes);
    if (opened) {
      direct.emplace(std::move(*opened));
    } else {
      keep(std::unexpected(opened.error()));
    }
  }
  stream s(emulation_, p.kind);
  wait_for_all();
  s.begin();
  while (!stop.load_relaxed()) {
    if (p.by == way::direct && !direct) return;
    const std::uint64_t n =
        direct ? direct_batch(p, random, *direct) : one_batch(p, random, s, buffer);
    if (!stop.load_relaxed()) moved.fetch_add_relaxed(n);
  }
}

rates prober::measure(const pattern& p, unsigned streams, unsigned writers, std::size_t samples) {
  if (error_) return {};  // the probe has failed already; no threads run between measurements
  if (accounts()) return account(p, streams, writers);
  base::atomic<bool> stop{false};
  base::atomic<std::uint64_t> moved{0};
  base::atomic<std::uint64_t> written{0};
  std::barrier<> all_ready(static_cast<std::ptrdiff_t>(streams + writers + 1));
  const auto ready = [&] { all_ready.arrive_and_wait(); };
  pattern writing{access::write, kBatchBytes};
  if (p.by == way::direct) writing.by = way::direct;
  std::vector<os::thread> threads;
  threads.reserve(streams + writers);
  for (unsigned t = 0; t < streams + writers; ++t) {
    auto started = os::start_thread("iso-probe", [&, t] {
      t < streams ? work(p, t + 1, stop, moved, ready) : work(writing, t + 1, stop, written, ready);
    });
    if (!started) {
      keep(std::unexpected(started.error()));
      stop.store_relaxed(true);
      for (; t < streams + writers; ++t) (void)all_ready.arrive();  // for those that never will
      break;
    }
    threads.push_back(std::move(*started));
  }
  all_ready.arrive_and_wait();
  if (stop.load_relaxed()) return {};
  // The first accesses of all threads are in flight: they do not count.
  std::this_thread::sleep_for(std::chrono::duration<double>(options_.sample_seconds));
  std::vector<rates> taken(samples);
  for (rates& r : taken) r = sample(moved, written, kLeastBatches * batch_bytes(p));
  stop.store_relaxed(true);
  threads.clear();
  return median_of(taken);
}

/// Measures the threads for the time of a sample, or, if that is longer, until they have moved
/// `least` bytes.
rates prober::sample(const base::atomic<std::uint64_t>& moved,
                     const base::atomic<std::uint64_t>& written, std::uint64_t least) const {
  const std::uint64_t moved_before = moved.load_relaxed();
  const std::uint64_t written_before = written.load_relaxed();
  const std::uint64_t start = os::monotonic_ns();
  constexpr std::uint64_t kLongestNs = 10'000'000'000;
  do {
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.sample_seconds));
  } while (moved.load_relaxed() - moved_before < least && os::monotonic_ns() - start < kLongestNs);
  const auto moved_bytes = static_cast<double>(moved.load_relaxed() - moved_before);
  const auto written_bytes = static_cast<double>(written.load_relaxed() - written_before);
  const double seconds = static_cast<double>(os::monotonic_ns() - start) * 1e-9;
  return {moved_bytes / seconds, written_bytes / seconds};
}

/// Measures without time: a stream that has been served asks again at once, the earliest first.
rates prober::account(const pattern& p, unsigned streams, unsigned writers) {
  constexpr int kRounds = 400;
  const pattern writing{access::write, kBatchBytes};
  emulation device(emulation_->parameters(), emulation_clock::account);
  std::deque<stream> all;
  for (unsigned i = 0; i < streams; ++i) all.emplace_back(&device, p.kind);
  for (unsigned i = 0; i < writers; ++i) all.emplace_back(&device, access::write);
  double counted = 0;
  double beside = 0;
  double end_ns = 0;
  for (std::size_t round = 0; round < kRounds * all.size(); ++round) {
    const auto next = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.served_ns() < b.served_ns();
    });
    const bool measured = next - all.begin() < static_cast<std::ptrdiff_t>(streams);
    const pattern& does = measured ? p : writing;
    next->touched(batch_accesses(does), does.bytes, does.stride);
    (measured ? counted : beside) += static_cast<double>(batch_accesses(does) * does.bytes);
    end_ns = std::max(end_ns, next->served_ns());
  }
  return {counted / end_ns * 1e9, beside / end_ns * 1e9};
}

curve prober::measure_curve(const pattern& p) {
  curve c;
  for (const unsigned n : streams_) {
    const rates r = measure(p, n);
    c.push_back({n, r.counted, r.spread});
  }
  return c;
}

std::vector<sized_curve> prober::measure_sizes(access kind, std::span<const std::uint64_t> sizes,
                                               way by) {
  std::vector<sized_curve> all;
  for (const std::uint64_t bytes : sizes) {
    if (options_.progress) {
      options_.progress(fmt::format("{} reads of {} bytes{}",
                                    kind == access::random_read ? "random" : "sequential", bytes,
                                    words_for(by)));
    }
    all.push_back({bytes, measure_curve({.kind = kind, .bytes = bytes, .by = by})});
  }
  return all;
}

std::vector<interference_point> prober::measure_interference(unsigned readers, way by) {
  std::vector<unsigned> writers{0, 1, 2, 4};
  if (emulation_ == nullptr) {
    writers = {0};
    for (const unsigned n : streams_) {
      if (n == 1 || n + readers <= processors_) writers.push_back(n);
    }
  }
  std::vector<interference_point> all;
  for (const unsigned n : writers) {
    const rates r =
        measure({.kind = access::sequential_read, .bytes = kBatchBytes, .by = by}, readers, n);
    all.push_back({n, r.counted, r.beside});
  }
  return all;
}

letter_rounds prober::measure_letters(const profile& p, unsigned readers) {
  if (options_.progress) options_.progress("what the letters compare");
  const bool past = !p.direct.random_read.empty();
  const way by = past ? way::direct : way::calls;
  const curve& writes = past ? p.direct.write : p.write;
  const auto& beside = past ? p.direct.interference : p.interference;
  if (writes.empty() || beside.empty() || p.random_read.empty()) return {};  // the probe has failed
  const auto random_of = [&](std::uint64_t bytes) {
    for (const auto& c : past ? p.direct.random_read : p.random_read) {
      if (c.access_bytes == bytes) return best_streams(c.bandwidth);
    }
    return streams_.back();
  };
  const unsigned scanning =
      best_streams(past ? p.direct.sequential_read.back().bandwidth : p.sequential_read);
  const pattern scan{.kind = access::sequential_read, .bytes = kBatchBytes, .by = by};
  const pattern writing{.kind = access::write, .bytes = kBatchBytes, .by = by};
  const auto gather = [&](std::uint64_t bytes) {
    return pattern{.kind = access::random_read, .bytes = bytes, .by = by};
  };
  letter_rounds r;
  for (std::size_t round = 0; round < kLetterRounds; ++round) {
    const auto add = [&](std::vector<double>& to, const pattern& accesses, unsigned streams,
                         unsigned writers = 0) {
      to.push_back(measure(accesses, streams, writers, 1).counted);
    };
    add(r.sequential, scan, scanning);
    add(r.write, writing, best_streams(writes));
    if (best_streams(writes) != streams_.back()) add(r.write_most, writing, streams_.back());
    add(r.random, gather(past ? 4096 : 256), random_of(past ? 4096 : 256));
    if (!past) add(r.random_small, gather(64), random_of(64));
    if (!past) add(r.random_page, gather(4096), random_of(4096));
    add(r.read_alone, scan, readers);
    add(r.read_beside, scan, readers, beside.back().writers);
  }
  if (r.write_most.empty()) r.write_most = r.write;
  return r;
}

direct_profile prober::measure_direct() {
  direct_profile d;
  if (emulation_ != nullptr) {
    d.way = "not measured: the device is emulated";
    return d;
  }
  auto trial = direct_stream::open(data_, kDirectSizes[0]);
  if (!trial) {
    d.way = "not measured: " + trial.error().message;
    return d;
  }
  d.way = trial->queued() ? fmt::format("O_DIRECT, {} in flight a thread through io_uring",
                                        direct_stream::kDepth)
                          : "O_DIRECT, one in flight a thread: the kernel refuses io_uring";
  d.sequential_read = measure_sizes(access::sequential_read, kDirectSizes, way::direct);
  d.random_read = measure_sizes(access::random_read, kDirectSizes, way::direct);
  if (options_.progress) options_.progress("writes past the page cache");
  d.write = measure_curve({.kind = access::write, .bytes = kBatchBytes, .by = way::direct});
  if (options_.progress) options_.progress("reads beside writers past the page cache");
  d.interference = measure_interference(half(), way::direct);
  return d;
}

}  // namespace

base::result<profile> probe(const std::string& directory, const probe_options& o) {
  profile p{.path = directory,
            .device = o.emulated.empty() ? "measured" : o.emulated,
            .sequential_read = {},
            .random_read = {},
            .strided_read = {},
            .write = {},
            .interference = {},
            .sequential_read_sizes = {},
            .mapped_read_sizes = {},
            .direct = {},
            .letters = {}};
  std::optional<emulation> emulated;
  if (!o.emulated.empty()) {
    auto m = preset(o.emulated);
    if (!m) return std::unexpected(m.error());
    emulated.emplace(std::move(*m));
  }
  prober it(o, emulated ? &*emulated : nullptr);
  const auto say = [&](std::string_view stage) {
    if (o.progress) o.progress(stage);
  };
  say("preparing");
  if (auto r = it.fill(directory); !r) return std::unexpected(r.error());
  p.sequential_read_sizes = it.measure_sizes(access::sequential_read, kSizes);
  say("sequential reads");
  p.sequential_read = it.measure_curve({access::sequential_read, kBatchBytes});
  p.random_read = it.measure_sizes(access::random_read, kSizes);
  // After the random reads, which have made the mapping's pages known to this process.
  p.mapped_read_sizes = it.measure_sizes(access::sequential_read, kSizes, way::mapping);
  say("reads of keys of 10 bytes, one in 100");
  p.strided_read = {10, it.measure_curve({access::strided_read, 10, 100})};
  say("writes");
  p.write = it.measure_curve({access::write, kBatchBytes});
  say("reads beside writers");
  const unsigned readers = emulated ? best_streams(p.sequential_read) : it.half();
  p.interference = it.measure_interference(readers, way::calls);
  p.direct = it.measure_direct();
  p.letters = it.measure_letters(p, readers);
  if (const auto& failed = it.error()) return std::unexpected(*failed);
  return p;
}

}  // namespace isotherm::device
