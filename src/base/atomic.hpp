// Ordered atomics: the memory order is part of the operation's name, so that no access is
// sequentially consistent by accident and its cost is visible at the call. A thin layer over
// std::atomic; which release pairs with which acquire is explained where the variables live.
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
  T fetch_and_relaxed(T v) noexcept { return value_.fetch_and(v, std::memory_order_relaxed); }
  T fetch_and_acq_rel(T v) noexcept { return value_.fetch_and(v, std::memory_order_acq_rel); }
  T fetch_and_seq_cst(T v) noexcept { return value_.fetch_and(v, std::memory_order_seq_cst); }

  /// Adds without a locked instruction, where no other thread writes meanwhile. Relaxed.
  void add_as_only_writer(T v) noexcept { store_relaxed(load_relaxed() + v); }

  /// On failure `expected` receives the value that was found, loaded with acquire.
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

  /// Sleeps while the value is `seen`; may wake up spuriously. Relaxed: a caller that relies on the
  /// value loads it again, in the order that it needs.
  void wait_relaxed(T seen) const noexcept { value_.wait(seen, std::memory_order_relaxed); }
  /// Wakes one thread, or all, that sleep in wait_relaxed(). To be called after a change of the
  /// value.
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

/// Size of a cache line, and the distance at which two threads' data share nothing: two lines,
/// because the adjacent-line prefetcher fetches lines in pairs.
inline constexpr unsigned kCacheLineBytes = 64;
inline constexpr unsigned kNoSharingBytes = 128;

/// A value alone on its cache lines: for a variable that is written often and might otherwise be
/// placed beside data that all threads read.
template <class T>
struct alignas(kNoSharingBytes) apart {
  T value;
};

}  // namespace isotherm::base
