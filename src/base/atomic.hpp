// Ordered atomics: the memory order stands in the name of the operation, so that no access is
// sequentially consistent by accident and a reader sees at the call what it pays for. A thin layer
// over std::atomic; the pairings (which release meets which acquire) are explained where the
// variables live.
#pragma once

#include <atomic>

namespace isotherm::base {

/// An atomic `T` whose operations carry their order in their name. Same size as `T`.
template <class T>
class atomic {
 public:
  constexpr atomic() noexcept = default;
  constexpr explicit atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load_relaxed() const noexcept { return value_.load(std::memory_order_relaxed); }
  T load_acquire() const noexcept { return value_.load(std::memory_order_acquire); }
  T load_seq_cst() const noexcept { return value_.load(std::memory_order_seq_cst); }

  void store_relaxed(T v) noexcept { value_.store(v, std::memory_order_relaxed); }
  void store_release(T v) noexcept { value_.store(v, std::memory_order_release); }
  void store_seq_cst(T v) noexcept { value_.store(v, std::memory_order_seq_cst); }

  T exchange_acq_rel(T v) noexcept { return value_.exchange(v, std::memory_order_acq_rel); }
  T exchange_seq_cst(T v) noexcept { return value_.exchange(v, std::memory_order_seq_cst); }

  T fetch_add_relaxed(T v) noexcept { return value_.fetch_add(v, std::memory_order_relaxed); }
  T fetch_add_acq_rel(T v) noexcept { return value_.fetch_add(v, std::memory_order_acq_rel); }
  T fetch_add_seq_cst(T v) noexcept { return value_.fetch_add(v, std::memory_order_seq_cst); }
  T fetch_sub_relaxed(T v) noexcept { return value_.fetch_sub(v, std::memory_order_relaxed); }
  T fetch_sub_acq_rel(T v) noexcept { return value_.fetch_sub(v, std::memory_order_acq_rel); }
  T fetch_or_relaxed(T v) noexcept { return value_.fetch_or(v, std::memory_order_relaxed); }
  T fetch_or_acq_rel(T v) noexcept { return value_.fetch_or(v, std::memory_order_acq_rel); }
  T fetch_or_seq_cst(T v) noexcept { return value_.fetch_or(v, std::memory_order_seq_cst); }
  T fetch_and_acq_rel(T v) noexcept { return value_.fetch_and(v, std::memory_order_acq_rel); }
  T fetch_and_seq_cst(T v) noexcept { return value_.fetch_and(v, std::memory_order_seq_cst); }

  /// On failure `expected` holds what was found (acquired).
  bool compare_exchange_acq_rel(T& expected, T desired) noexcept {
    return value_.compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }
  bool compare_exchange_seq_cst(T& expected, T desired) noexcept {
    return value_.compare_exchange_strong(expected, desired, std::memory_order_seq_cst,
                                          std::memory_order_acquire);
  }
  bool compare_exchange_weak_acq_rel(T& expected, T desired) noexcept {
    return value_.compare_exchange_weak(expected, desired, std::memory_order_acq_rel,
                                        std::memory_order_acquire);
  }
  bool compare_exchange_weak_relaxed(T& expected, T desired) noexcept {
    return value_.compare_exchange_weak(expected, desired, std::memory_order_relaxed,
                                        std::memory_order_relaxed);
  }

  /// Sleeps while the value is `seen`; may wake up for no reason. Orders nothing: whoever relies on
  /// the value loads it again.
  void wait_relaxed(T seen) const noexcept { value_.wait(seen, std::memory_order_relaxed); }
  /// Wakes one that sleeps in wait_relaxed(), if there is one, or all. After the value has changed.
  void notify_one() noexcept { value_.notify_one(); }
  void notify_all() noexcept { value_.notify_all(); }

 private:
  std::atomic<T> value_{};
};

/// Keeps the compiler, not the processor, from moving memory accesses across this point. It is the
/// cheap half of an asymmetric fence; os::membarrier() is the costly half.
inline void compiler_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// Tells the processor that this is a spin loop.
inline void spin_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Size that keeps two threads' data from sharing a line (two lines: the adjacent-line prefetcher).
inline constexpr unsigned kCacheLineBytes = 64;
inline constexpr unsigned kNoSharingBytes = 128;

/// A value with its line to itself: for what is written often and would otherwise lie, by the
/// linker's whim, beside what all others read.
template <class T>
struct alignas(kNoSharingBytes) apart {
  T value;
};

}  // namespace isotherm::base
