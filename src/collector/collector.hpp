// The object collector (OBASE 3.4, 4.4, 4.5): window by window it learns which objects were
// used, decides which heap each belongs to, moves them, and may hint the kernel.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "collector/options.hpp"
#include "collector/page_uses.hpp"
#include "collector/statistics.hpp"

namespace isotherm::collector {

/// The process's collector. start() and stop() are for one controlling thread; run_window(),
/// last_window(), on_window(), configuration() and reconfigure() are thread-safe, the last four
/// also in a fork child.
class object_collector {
 public:
  explicit object_collector(options chosen);
  ~object_collector();  ///< stops
  object_collector(const object_collector&) = delete;
  object_collector& operator=(const object_collector&) = delete;

  /// Starts the background threads, which take no signals. Fails when another collector runs in
  /// this process, in the fork child of a process in which one has ever run (a thread, or a window
  /// by hand), when an option is out of range, and when the system gives no thread: a later start
  /// may then succeed.
  base::result<void> start();
  /// Ends after what is in flight: a batch of moves, a MiB of page-out, ten milliseconds of
  /// reclamation and the block then in hand, a return of free memory (heap::trim()) or of emptied
  /// extents, or a scan up to its next MiB of candidates. Waits for no scope. Idempotent.
  void stop() noexcept;
  bool is_running() const noexcept;
  /// While DRAM is above its target (options::memory_target_bytes) by more than can be borne: what
  /// makes the process grow should be refused. Before that the threads that allocate are slowed.
  /// Any thread; looked at ten times a second while the collector runs.
  bool refuses_growth() const noexcept;

  /// Runs one window now, in the calling thread (which must be outside of every scope), and returns
  /// what it saw. Excludes the background thread meanwhile. The options must be in range (start()
  /// says whether they are), and this no fork child of a process in which a collector has run: ends
  /// the program there.
  window_statistics run_window();

  window_statistics last_window() const;
  /// Returns how the last window used the pages of the heaps; null until a window has ended since
  /// callers began to ask. Each call has the next window, and all windows of the next seconds,
  /// record their uses; without calls, nothing is recorded. Any thread; null in a fork child.
  std::shared_ptr<const page_uses> last_page_uses();
  /// The objects that lie in `where`, in part at least, in the order of their addresses; nullopt
  /// while a window is under way, when one begins meanwhile, before the first one, and in a fork
  /// child. Looks at every guide, of the order of 50 ns for each, in pieces of some milliseconds
  /// between which windows can begin and memory is looked after. An object that is made, freed or
  /// moved meanwhile may be left out. Any thread outside of every scope.
  std::optional<std::vector<seen_object>> objects_in(const heap::range& where);
  /// `callback` runs in the collecting thread at the end of every window, which lasts until it
  /// returns: it must not call run_window() or stop(). An exception of it is dropped, and reported
  /// in `callback_problem`. Set before start().
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
