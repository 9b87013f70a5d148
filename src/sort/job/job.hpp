// What all parts of one running sort share: its options, the device, the first error, and the
// clocks of its stages.
#pragma once

#include <isotherm/sort.hpp>

#include <array>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/atomic.hpp"
#include "device/model.hpp"
#include "device/pool.hpp"

namespace isotherm::sort {

/// One sort in progress. fail(), stopped() and count() may be called by any thread, the rest by the
/// thread that leads the sort.
class job {
 public:
  job(sort_options o, device::emulation* emulated) : options(std::move(o)), emulation(emulated) {}

  /// Keeps the first error of all threads.
  void fail(base::error error);
  /// Whether an error or the user's interrupt ends the sort. Cheap; loops ask it often.
  bool stopped() noexcept;
  base::result<void> status();
  /// Runs `work`; what it throws becomes the job's error.
  void guard(const std::function<void()>& work) noexcept;
  /// guard()s `work` on a thread of its own, which becomes `thread`; where the system gives none,
  /// on the caller's. `thread` must not be running.
  void beside(std::jthread& thread, const std::function<void()>& work);
  /// True if `r` holds a value; otherwise its error becomes the job's.
  template <class T>
  bool keep(const base::result<T>& r) {
    if (!r) fail(r.error());
    return r.has_value();
  }

  void count(sort_stage stage, std::uint64_t read, std::uint64_t written) noexcept {
    clocks_[static_cast<unsigned>(stage)].read.fetch_add_relaxed(read);
    clocks_[static_cast<unsigned>(stage)].written.fetch_add_relaxed(written);
  }
  void progress(sort_stage stage, std::uint64_t done, std::uint64_t total);
  std::vector<stage_report> stages() const;

  const sort_options options;
  device::emulation* const emulation;  ///< null: no emulated device
  device::thread_pool readers;         ///< also sorts; used by the leading thread only
  device::thread_pool writers;         ///< used by whoever writes, one at a time

 private:
  friend class stage_timer;
  struct clock {
    base::atomic<std::uint64_t> ns{0};
    base::atomic<std::uint64_t> read{0};
    base::atomic<std::uint64_t> written{0};
  };
  std::array<clock, kSortStages> clocks_;
  base::atomic<bool> stopped_{false};
  std::mutex lock_;    // guards error_
  base::error error_;  // once stopped_
  std::mutex progress_lock_;
};

/// What a caller is told of an exception.
base::error error_of(const std::exception& thrown);

/// Adds the time of its own life to a stage, and tells the user that the stage has begun.
class stage_timer {
 public:
  stage_timer(job& j, sort_stage stage);
  /// For a stage that runs inside another, whose time it does not count as.
  stage_timer(job& j, sort_stage stage, sort_stage outer);
  ~stage_timer();
  stage_timer(const stage_timer&) = delete;
  stage_timer& operator=(const stage_timer&) = delete;

 private:
  job& job_;
  sort_stage stage_;
  sort_stage outer_;  // the stage itself if there is none
  std::uint64_t start_ns_;
};

}  // namespace isotherm::sort
