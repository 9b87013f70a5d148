// COLD objects whose page the disk does not give back (options::catch_read_errors).
//
// A mapping cannot say that a read failed: the access ends in SIGBUS. So whoever is about to use a
// COLD object touches its pages first, in a guarded piece (os/memory/bus_error.hpp); afterwards
// they are in memory. Nothing is put in the place of such a page: each later look tries the disk
// again, so where a read fails no reader ever sees anything but the object or the failure. Where
// the option is off nothing is touched, and the failure ends the process.
//
// After a write that failed nothing is dropped before it has been written anew (packed/pager.hpp).
// But the system itself, short of memory, may drop such a page as if it had been written, and later
// give what the disk held there before. It looks like an object that was there then, or, by its
// header, like none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace isotherm::heap {

/// Whether the object can be read as a whole. Reads a byte of each of its pages, if it lies in
/// COLD; true for all others. A failure counts in lost_reads(). Any thread, inside a scope.
bool is_readable(const void* object) noexcept;

/// The same for whom frees it, who has not asked for what it holds: counts nowhere.
bool is_readable_to_free(const void* object) noexcept;

/// Size of an object in COLD whose page may be unreadable; nullopt when it is, which counts in
/// lost_reads(). For object_size().
std::optional<std::size_t> size_in_cold(const void* object) noexcept;

/// For the thread's watches: it has met an object that it does not wait for (cold/misses.hpp).
void note_missed() noexcept;
/// Likewise, one that was read past the mapping, and could not be; counts in lost_reads().
void note_unreadable() noexcept;
/// Likewise, one whose read past the mapping was given up: the disk does not answer.
void note_unanswered() noexcept;

/// Failures since the start.
std::uint64_t lost_reads() noexcept;

/// Tells whether this thread met an object that it could not read since the watch was made. Watches
/// nest.
class read_watch {
 public:
  read_watch() noexcept {
    if (of_this_thread.watches++ == 0) of_this_thread.since = {};
    before_ = of_this_thread.since;
  }
  ~read_watch() { --of_this_thread.watches; }
  read_watch(const read_watch&) = delete;
  read_watch& operator=(const read_watch&) = delete;

  bool has_lost() const noexcept { return of_this_thread.since.lost != before_.lost; }
  /// The same since this thread's outermost watch was made.
  static bool outermost_has_lost() noexcept { return of_this_thread.since.lost != 0; }
  /// Whether one of those could not be read because the disk does not answer
  /// (cold_reader::end_unanswered()): it may be there later.
  bool disk_is_silent() const noexcept {
    return of_this_thread.since.unanswered != before_.unanswered;
  }
  /// The same since this thread's outermost watch was made.
  static bool outermost_disk_is_silent() noexcept { return of_this_thread.since.unanswered != 0; }
  /// For the watches around this one nothing was lost since it was made: who removes or overwrites
  /// an object need not have read it.
  void forgive() const noexcept { of_this_thread.since = before_; }

 private:
  friend void note_missed() noexcept;
  friend void note_unanswered() noexcept;

  struct met {
    std::uint64_t lost = 0;
    std::uint64_t unanswered = 0;  ///< of these
  };
  /// Inline, and without a call for their address: every command makes a watch.
  struct counts {
    unsigned watches;
    met since;  ///< the outermost of them was made
  };
  static constinit thread_local counts of_this_thread __attribute__((tls_model("initial-exec")));

  met before_;
};

}  // namespace isotherm::heap
