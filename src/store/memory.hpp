// How much memory the data takes, cheaply enough to ask before every write.
//
// Asking the allocators costs tens of microseconds, so that the answer is a sample plus what was
// written since: less than the truth, as nodes and rounding are not counted, until the next sample.
// The server takes one several times a second if there is a limit. A new sample is taken before a
// write is refused, once a millisecond at most.
#pragma once

#include <cstdint>
#include <functional>

#include "base/atomic.hpp"
#include "heap/usage.hpp"

namespace isotherm::store {

/// Bytes of DRAM that the ordinary allocator and the heaps have handed out. Bytes of COLD that were
/// not in DRAM at the last note_cold() are left out; bytes added since are counted.
std::uint64_t allocated_bytes();
/// Whether that counts what malloc() hands out: not where another allocator than jemalloc was
/// preloaded. True in builds with a sanitizer, whose tests do with the heaps.
bool counts_allocations() noexcept;
/// Notes how much of COLD is in DRAM: `now` is COLD's usage with residency. Thread-safe.
void note_cold(const heap::usage& now) noexcept;
/// Resident set of the process, in bytes; 0 when the system does not tell.
std::uint64_t resident_bytes();

/// Knows how much memory is in use, in bytes. Thread-safe.
class memory_meter {
 public:
  using probe = std::function<std::uint64_t()>;  ///< thread-safe; answers in bytes
  explicit memory_meter(probe ask) : ask_(std::move(ask)) { sample(); }

  /// Measures the bytes in use now.
  std::uint64_t sample();
  /// Adds to the estimate. Each thread collects 64 KiB first, so that writers do not contend for a
  /// line.
  void note_written(std::uint64_t bytes) noexcept {
    static thread_local std::uint64_t gathered = 0;
    gathered += bytes;
    if (gathered < kGathered) return;
    written_.fetch_add_relaxed(gathered);
    gathered = 0;
  }
  /// True when writes must be refused under `limit_bytes` (0: never) at `now_ms`, milliseconds
  /// since any epoch. A refusal stands for its millisecond, so that not every refusal takes a
  /// sample.
  bool is_over(std::uint64_t limit_bytes, std::int64_t now_ms) {
    if (limit_bytes == 0) [[likely]]
      return false;
    if (sampled_.load_relaxed() + written_.load_relaxed() <= limit_bytes) return false;
    if (refused_ms_.load_relaxed() == now_ms && sampled_.load_relaxed() > limit_bytes) return true;
    const bool is_over = sample() > limit_bytes;
    if (is_over) refused_ms_.store_relaxed(now_ms);
    return is_over;
  }
  /// Bytes of the last sample; the server takes ten a second.
  std::uint64_t sampled_bytes() const noexcept { return sampled_.load_relaxed(); }
  std::uint64_t peak_bytes() const noexcept { return peak_.load_relaxed(); }

 private:
  static constexpr std::uint64_t kGathered = std::uint64_t{64} << 10;
  probe ask_;
  base::atomic<std::uint64_t> sampled_{0}, written_{0}, peak_{0};
  base::atomic<std::int64_t> refused_ms_{-1};  ///< when a sample was last above the limit
};

}  // namespace isotherm::store
