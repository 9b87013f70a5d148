// Writing a logged COLD to its file.
//
//   taken      an extent gets memory, and objects are put there
//   closed     it takes no more objects
//   under way  the extent is pinned, and threads of the writer put it into the file
//   written    its bytes are in the file; scopes that open from now on read it there
//   ended      every scope that was open then has closed, and the memory goes
//
// Nothing stores to an object of a logged COLD (guide/fetched.hpp): so a write that fails, or that
// is still under way, loses nothing, and an extent that the disk does not take stays in memory. The
// extent is pinned from before its write until its memory has ended: its addresses mean no other
// objects meanwhile, whose memory would go.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/atomic.hpp"
#include "heap/packed/packed.hpp"
#include "heap/upkeep.hpp"
#include "os/disk/read_queue.hpp"

namespace isotherm::heap {

/// One caller at a time.
class log_writer {
 public:
  /// `cold`, a heap with cold_extents, must outlive it.
  explicit log_writer(packed_heap& cold) noexcept : heap_(cold) {}

  /// begin_page_out() of upkeep.hpp.
  page_out_report begin(std::uint64_t limit_bytes, const std::function<bool()>& stop);
  /// finish_page_out() of upkeep.hpp; adds to the report.
  void finish(const std::function<bool()>& stop, page_out_report& report);

  /// Returns the bytes written since start. Any thread.
  std::uint64_t written_bytes() const noexcept { return written_bytes_.load_relaxed(); }
  /// Ends the memory of the extent, or run, that begins there. For sync::retire().
  static void end_memory(void* begin) noexcept;

 private:
  struct write : os::queued_read {
    std::size_t first;    ///< extent, or head of a run
    std::uint64_t freed;  ///< bytes of memory that end with it
    std::string problem;  ///< empty: the file has it
  };
  void write_all(std::uint64_t limit_bytes, const std::function<bool()>& stop,
                 page_out_report& report);
  bool is_under_way(std::size_t first) const noexcept;
  bool has_room(std::uint64_t bytes, const std::function<bool()>& stop, page_out_report& report);
  void start(std::list<write> added, page_out_report& report);
  bool open_queue() noexcept;
  void perform(write& one) const noexcept;
  void wait_for_some(page_out_report& report);
  void end(write& one, page_out_report& report);

  packed_heap& heap_;
  std::unique_ptr<os::read_queue> queue_;  // opened by the first write
  std::list<write> under_way_;
  std::uint64_t bytes_under_way_ = 0;
  std::size_t next_ = 0;                          // extents from here on are tried first
  unsigned failures_ = 0;                         // of this call
  base::atomic<std::uint64_t> written_bytes_{0};  // relaxed: a statistic
};

}  // namespace isotherm::heap
