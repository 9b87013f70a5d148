// The state that all parts of one running sort share: its options, the device, the first error, and
// the clocks of its stages.
#pragma once

#include <isotherm/sort.hpp>

#include <array>
#include <exception>
#include <functional>
#include <mutex>
#include <string>

#include "base/atomic.hpp"
#include "device/emulation.hpp"
#include "os/thread.hpp"
#include "os/thread_pool.hpp"

namespace isotherm::sort {

/// One sort in progress. fail(), stopped() and count() may be called by any thread, the rest by the
/// thread that leads the sort.
class job {
 public:
  job(sort_options o, device::emulation* emulated) : options(std::move(o)), emulation(emulated) {}

  /// Ends the sort with `error`; of several errors the first is kept.
  void fail(base::error error);
  /// Whether an error or the user's interrupt has ended the sort. Cheap; loops ask often.
  bool stopped() noexcept;
  base::result<void> status();
  /// Runs `work`; an exception becomes the job's error.
  void guard(const std::function<void()>& work) noexcept;
  /// Runs guard(work) on a new thread, stored in `thread`; on the calling thread if the system
  /// gives none. `thread` must not be running.
  void beside(os::thread& thread, const std::function<void()>& work);
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
  device::emulation* const emulation;  ///< of input and output; null: they are not emulated
  os::thread_pool readers;  ///< also sorts; used by the leading thread, or one that reads ahead
  os::thread_pool writers;  ///< used by one writing thread at a time

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
  base::error error_;  // valid once stopped_ is true
  std::mutex progress_lock_;
};

/// The error that reports an exception to the caller.
base::error error_of(const std::exception& thrown);

/// Adds its own lifetime to a stage's time, and reports the beginning of the stage to the user.
class stage_timer {
 public:
  stage_timer(job& j, sort_stage stage);
  /// For a stage that runs inside the stage `outer`: its time is subtracted from that one's.
  stage_timer(job& j, sort_stage stage, sort_stage outer);
  ~stage_timer();
  stage_timer(const stage_timer&) = delete;
  stage_timer& operator=(const stage_timer&) = delete;

 private:
  job& job_;
  sort_stage stage_;
  sort_stage outer_;  // equal to stage_ if there is none
  std::uint64_t start_ns_;
};

}  // namespace isotherm::sort
