// The object collector (OBASE 3.4, 4.4, 4.5): window by window it learns which objects were
// used, decides which heap each belongs to, moves them, and may hint the kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "collector/statistics.hpp"
#include "heap/heap.hpp"

namespace isotherm::collector {

enum class mode : std::uint8_t {
  track,  ///< watches and reports; moves nothing
  on      ///< watches and moves
};

struct options {
  double window_seconds = 120;  ///< any positive duration up to 1e9
  mode what = mode::on;
  heap::hint hint =
      heap::hint::none;         ///< given for COLD when it is used little enough (reclaim.hpp)
  unsigned cold_threshold = 3;  ///< initial, 1..31 windows
  double target_promotion_rate = 0.01;  ///< a minute
  /// Mean time between two uses of a COLD page, in seconds, from which the hint is given though the
  /// promotion rate is above target. The five-minute rule's 300 fit SATA disks; its break-even
  /// falls with the price of a read, and is about a minute and less on NVMe.
  double min_rest_seconds = 60;
  bool adaptive_threshold = true;  ///< false: the threshold stays as given
  std::uint64_t reclaim_bytes_per_window = std::uint64_t{4} << 30;
  std::uint64_t epoch_timeout_us = 100'000;  ///< wait for scopes before an epoch is abandoned
  /// Bytes moved in one epoch, each object counted with 1 KiB more for its move; a batch ends with
  /// the object that reaches it.
  std::uint64_t batch_bytes = std::uint64_t{4} << 20;
  std::string protocol = "veto";  ///< migration protocol, one of protocol_names()
};

/// The process's collector. start() and stop() are for one controlling thread; run_window(),
/// last_window(), on_window(), configuration() and reconfigure() are thread-safe, the last four
/// also in a fork child.
class object_collector {
 public:
  explicit object_collector(options chosen);
  ~object_collector();  ///< stops
  object_collector(const object_collector&) = delete;
  object_collector& operator=(const object_collector&) = delete;

  /// Starts the background thread, which takes no signals. Fails when another collector runs in
  /// this process, in the fork child of a process in which one has ever run (a thread, or a window
  /// by hand), when an option is out of range, and when the system gives no thread: a later start
  /// may then succeed.
  base::result<void> start();
  /// Ends after what is in flight: a batch of moves, a MiB of page-out, ten milliseconds of
  /// reclamation and the block then in hand, a return of free memory (heap::trim()), or a scan up
  /// to its next MiB of candidates. Waits for no scope. Idempotent.
  void stop() noexcept;
  bool is_running() const noexcept;

  /// Runs one window now, in the calling thread (which must be outside of every scope), and returns
  /// what it saw. Excludes the background thread meanwhile. The options must be in range (start()
  /// says whether they are), and this no fork child of a process in which a collector has run: ends
  /// the program there.
  window_statistics run_window();

  window_statistics last_window() const;
  /// `callback` runs in the collecting thread at the end of every window, which lasts until it
  /// returns: it must not call run_window() or stop(). What it throws is dropped, and told by
  /// `callback_problem`. Set before start().
  void on_window(std::function<void(const window_statistics&)> callback);

  options configuration() const;
  /// Takes effect with the next window, whose end a new length moves at once. Fails, and changes
  /// nothing, when an option is out of range.
  base::result<void> reconfigure(const options& chosen);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace isotherm::collector
