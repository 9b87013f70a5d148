// Reads objects of COLD whose pages have left DRAM, many at a time, and reports when they have
// arrived. Flow control is here; reads that threads share are in shared_reads.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string_view>
#include <utility>

#include "heap/cold/read.hpp"
#include "heap/cold/shared_reads.hpp"
#include "os/disk/read_queue.hpp"

namespace isotherm::heap {

/// Owned by one thread; other readers reach its mailbox only. A logged COLD is read past the page
/// cache, by io_uring or threads. Threads bring the pages of a mapped one back to DRAM.
class cold_reader {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Makes a reader. A fork child may do no more with its parent's readers than destroy them.
  /// Errors: fails where there are no descriptors or threads left, and in a fork child.
  static base::result<std::unique_ptr<cold_reader>> make(
      os::read_queue::engine chosen = os::read_queue::engine::best);
  /// Calls leave(), and waits for the reads under way. Those that the disk has not answered then
  /// end as cancelled, and stay in memory for ever.
  ~cold_reader();
  cold_reader(const cold_reader&) = delete;
  cold_reader& operator=(const cold_reader&) = delete;

  /// Returns a descriptor that can be read from when take_ended() has something to report.
  int descriptor() const noexcept { return queue_->descriptor(); }
  std::string_view engine() const noexcept { return queue_->name(); }

  /// Asks for the pages of a missed object; take_ended() reports `ticket` when they have been read.
  /// Pages that another thread's reader has under way are not read once more, unless that thread
  /// comes to be busy (end_unanswered()). At most kBytesUnderWay are read at a time, or one object;
  /// other reads wait their turn, at which those that no thread keeps any more end as cancelled.
  /// Call submit() when all objects are asked for.
  /// Errors: throws std::bad_alloc, and has changed nothing then.
  std::shared_ptr<const cold_read> read(miss&& wanted, std::uint64_t ticket);
  /// Submits to the disk the reads whose turn it is.
  void submit();
  /// Ends the use of this reader: nothing more is asked for nor reported. Reads that were not
  /// submitted end as cancelled, and followers of other readers' reads never end. The reads under
  /// way have some seconds from now on, so that several readers that go wait for them together.
  void leave();
  /// Waits until there is something to report, or so long.
  void wait(int milliseconds) const noexcept { queue_->wait(milliseconds); }
  /// Calls report(ticket) for each ticket whose read has ended. An exception of `report` is passed
  /// on, and the next call begins with that ticket.
  void take_ended(const std::function<void(std::uint64_t ticket)>& report);

  /// Checks whether the disk is silent, that is, has answered nothing for
  /// read_limits().answers_within. If so: ends with ETIME, for take_ended() to report, all reads
  /// that it was asked for, and returns their number. Until the disk answers again, a read that is
  /// asked for meanwhile has answers_one_within. A disk that is only slow has as long as it takes;
  /// while an object of more than kBytesUnderWay is read, it has a second more for each further
  /// kBytesUnderWay. Pages that are shared with a reader whose thread has not called this for
  /// kLooksWithin are read by this reader as well: that thread may be busy for long. To be called
  /// several times a second: after some seconds without a call the disk's time begins anew. Takes
  /// next to nothing while the disk answers.
  std::size_t end_unanswered(time_point now = std::chrono::steady_clock::now());
  static constexpr std::chrono::milliseconds kLooksWithin{250};

  static constexpr std::size_t kBytesUnderWay = std::size_t{4} << 20;
  /// Reads that were given up keep their memory until the disk answers them, and count no more as
  /// under way. While the disk is silent, one read at a time, of kBytesUnderWay at most, is
  /// submitted to see whether it answers again, until so many bytes have been given up (a larger
  /// object counts as kBytesUnderWay). Then nothing more is submitted before the disk has answered
  /// one of these, or end_unanswered() has not been called for some seconds.
  static constexpr std::size_t kBytesGivenUp = 4 * kBytesUnderWay;

 private:
  explicit cold_reader(std::unique_ptr<os::read_queue> queue) noexcept
      : queue_(std::move(queue)), mailbox_(*queue_) {}
  bool may_start(std::size_t bytes) const noexcept;
  void start_waiting();
  void take_answers();
  void record_answer(time_point when) noexcept;
  bool is_silent(time_point now) const noexcept;
  std::size_t end_late(time_point now);
  void count_given_up(const cold_read& late) noexcept;

  std::unique_ptr<os::read_queue> queue_;
  read_mailbox mailbox_;              // what other readers deliver
  shared_reads::read_list waiting_;   // queued reads; the table of shared_reads has them too
  std::list<std::uint64_t> tickets_;  // from the mailbox, to be reported
  std::size_t bytes_under_way_ = 0;   // of submitted reads, without those given up
  // Reads that were given up: ended by end_unanswered(), and not answered by the disk.
  std::size_t bytes_given_up_ = 0;
  std::size_t given_up_ = 0;
  time_point answered_;  // when the disk answered last, or was asked with nothing under way
  bool is_known_silent_ = false;  // reads have been given up since
  time_point left_until_;         // zero: leave() was not called
  bool copies_ = true;            // false: pages come back to DRAM
};

}  // namespace isotherm::heap
