// Slows threads that load faster than records can leave DRAM: a thread that needs another extent of
// NEW or HOT, when so many as are allowed have been opened, waits first. The collector says how
// many (upkeep.hpp), and its own allocations do not wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/atomic.hpp"

namespace isotherm::heap {

/// Thread-safe; all relaxed: what is allowed may take effect an extent later.
class brake {
 public:
  /// A wait is of so many pieces at most, and ends with the one after which more is allowed.
  static constexpr std::uint64_t kPieceUs = 2'000;
  static constexpr int kPieces = 120;
  static constexpr std::uint64_t kLongestNs = kPieces * kPieceUs * 1000;
  static constexpr std::int64_t kUnlimited = INT64_MAX;

  void allow(std::int64_t extents) noexcept { extents_left_.store_relaxed(extents); }
  /// Before `count` extents are opened. The caller holds no lock. If may_wait_here() says no, the
  /// wait is owed: for pay().
  void wait(std::size_t count) noexcept;
  /// Waits now if this thread owes a wait.
  void pay() noexcept {
    if (owes_) [[unlikely]]
      wait_now();
  }
  /// Whether this thread owes a wait, which is the caller's from now on: until has_room(), or
  /// kLongestNs have passed, and then count().
  bool take_debt() noexcept { return std::exchange(owes_, false); }
  /// Says that a thread waits.
  void tell() const noexcept {
    if (const auto told = tell_.load_relaxed()) told();
  }
  bool has_room() const noexcept { return extents_left_.load_relaxed() > 0; }
  void count(std::uint64_t waited_ns) noexcept;
  /// Set once, before any heap is used.
  void ask(bool (*may_wait_here)() noexcept) noexcept { may_wait_here_ = may_wait_here; }
  /// Sets a function that each thread calls which is going to wait, or owes a wait. Once.
  void tell_of_waits(void (*tell)() noexcept) noexcept { tell_.store_relaxed(tell); }

  /// Waits, however long.
  std::uint64_t waits() const noexcept { return waits_.load_relaxed(); }
  std::uint64_t waited_us() const noexcept { return waited_us_.load_relaxed(); }

 private:
  void wait_now() noexcept;

  static constinit thread_local bool owes_;
  bool (*may_wait_here_)() noexcept = nullptr;
  base::atomic<void (*)() noexcept> tell_{nullptr};
  base::atomic<std::int64_t> extents_left_{kUnlimited};
  base::atomic<std::uint64_t> waits_{0};
  base::atomic<std::uint64_t> waited_us_{0};
};

/// The process's, also before its heaps are made.
extern constinit brake loading_brake;

}  // namespace isotherm::heap
