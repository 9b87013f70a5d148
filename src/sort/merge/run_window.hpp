// Reading runs that are being merged. A run is seen through a window; while a merge works on
// one half of it, a thread that all runs share reads what follows into the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "os/files/file.hpp"
#include "os/thread.hpp"
#include "sort/runs/reader.hpp"

namespace isotherm::sort {

/// The place of a run of records.
struct record_run {
  run_place* place = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Bytes of a run that are wanted soon.
struct fetch {
  const run_place* from = nullptr;
  std::span<std::byte> target;
  std::uint64_t offset = 0;
  bool done = false;  ///< guarded by the lock of the read_ahead; also true after an error
};

/// A thread that fetches.
class read_ahead {
 public:
  /// The arguments must outlive it.
  explicit read_ahead(const context& ctx) : ctx_(ctx) {}
  ~read_ahead();
  read_ahead(const read_ahead&) = delete;
  read_ahead& operator=(const read_ahead&) = delete;

  /// Starts to fetch `f`, which must stay where it is until wait(f) returns or the thread is gone.
  void start(fetch& f);
  void wait(fetch& f);

 private:
  void work();
  void read(const fetch& f);

  const context ctx_;
  std::mutex lock_;  // guards all below and the fetches
  std::condition_variable wanted_;
  std::condition_variable done_;
  std::deque<fetch*> fetches_;
  bool stop_ = false;
  os::thread thread_;
};

/// When a window reads what follows: when it is asked for, or before, into a half of its memory.
enum class reading : std::uint8_t { when_asked, ahead };

/// A window on one run. Does not move, as a fetch may be under way.
class run_window {
 public:
  /// `memory` holds what bytes_for() says or more. Without `ahead` the window reads as it is asked
  /// to. The arguments must outlive it.
  run_window(const context& ctx, const record_run& run, std::span<std::byte> memory,
             std::size_t kept, after_reading space, read_ahead* ahead);
  run_window(const run_window&) = delete;
  run_window& operator=(const run_window&) = delete;

  /// Returns the bytes from `first` on, of the span that was returned last, and more behind them,
  /// unless the run ends or more than the `kept` bytes of the constructor are left from `first` on.
  std::span<const std::byte> more(const std::byte* first);

  /// The least memory of a window that keeps up to `kept` bytes.
  static constexpr std::size_t bytes_for(std::size_t kept, reading how) noexcept {
    return (how == reading::ahead ? 2 : 1) * (kept + kLeastRead);
  }

 private:
  static constexpr std::size_t kLeastRead = 64 << 10;
  static constexpr std::size_t kMostRead = 2 << 20;
  void start_fetch();

  const context ctx_;
  const record_run run_;
  const std::size_t kept_;
  const after_reading space_;
  read_ahead* const ahead_;
  std::span<std::byte> halves_[2];  // the same one if nothing is read ahead
  unsigned turn_ = 0;               // the half that is read next
  std::uint64_t read_ = 0;          // bytes of the run that were read, or are being fetched
  fetch next_;                      // of no bytes: the run has ended
  const std::byte* end_ = nullptr;  // of the bytes returned last
};

}  // namespace isotherm::sort
