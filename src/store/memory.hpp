// How much memory the data takes, cheaply enough to ask before every write.
//
// Asking the allocators costs tens of microseconds, so the answer is a sample plus what was written
// since: less than the truth, as nodes and rounding are not noted, until somebody samples again.
// The server does so several times a second where there is a limit. Before a write is refused the
// sample is taken anew, once a millisecond.
#pragma once

#include <cstdint>
#include <functional>

#include "base/atomic.hpp"
#include "heap/heap.hpp"

namespace isotherm::store {

/// Bytes of DRAM that the ordinary allocator and the heaps have handed out: what of COLD was not in
/// DRAM when note_cold() was last told is left out, and what came to COLD since is counted.
std::uint64_t allocated_bytes();
/// Takes note of how much of COLD is in DRAM: `now` is its usage with residency. Thread-safe.
void note_cold(const heap::usage& now) noexcept;
/// Resident set of the process, in bytes; 0 when the system does not tell.
std::uint64_t resident_bytes();

/// Thread-safe.
class memory_meter {
 public:
  using probe = std::function<std::uint64_t()>;  ///< thread-safe; answers in bytes
  explicit memory_meter(probe ask) : ask_(std::move(ask)) { sample(); }

  /// Bytes in use, now.
  std::uint64_t sample();
  /// Threads gather before they add, so that writers do not share a line.
  void note_written(std::uint64_t bytes) noexcept {
    static thread_local std::uint64_t gathered = 0;
    gathered += bytes;
    if (gathered < kGathered) return;
    written_.fetch_add_relaxed(gathered);
    gathered = 0;
  }
  /// True when writes must be refused under `limit_bytes` (0: never) at `now_ms`, counted from any
  /// epoch: a refusal stands for the millisecond, so that refusing costs no sample each.
  bool is_over(std::uint64_t limit_bytes, std::int64_t now_ms) {
    if (limit_bytes == 0) [[likely]]
      return false;
    if (sampled_.load_relaxed() + written_.load_relaxed() <= limit_bytes) return false;
    if (refused_ms_.load_relaxed() == now_ms && sampled_.load_relaxed() > limit_bytes) return true;
    const bool is_over = sample() > limit_bytes;
    if (is_over) refused_ms_.store_relaxed(now_ms);
    return is_over;
  }
  std::uint64_t peak_bytes() const noexcept { return peak_.load_relaxed(); }

 private:
  static constexpr std::uint64_t kGathered = std::uint64_t{64} << 10;
  probe ask_;
  base::atomic<std::uint64_t> sampled_{0}, written_{0}, peak_{0};
  base::atomic<std::int64_t> refused_ms_{-1};  ///< when a sample last said so
};

}  // namespace isotherm::store
