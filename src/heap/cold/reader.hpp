// Reads objects of COLD whose pages have left DRAM, many at a time, and tells when they have
// arrived.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include "base/atomic.hpp"
#include "heap/cold/read.hpp"

namespace isotherm::heap {

/// What has been read past the mapping since the process began.
struct cold_read_statistics {
  std::uint64_t misses = 0;        ///< objects asked for
  std::uint64_t reads = 0;         ///< that have ended, but for those that were cancelled
  std::uint64_t shared_reads = 0;  ///< objects whose pages were being read already
  std::uint64_t failed_reads = 0;
  std::uint64_t read_bytes = 0;       ///< of pages
  std::uint64_t requested_bytes = 0;  ///< of objects: what read_bytes were read for
  std::uint64_t under_way = 0;        ///< reads, now
  std::uint64_t unanswered = 0;       ///< given up (end_unanswered()), and not answered until now
  std::uint64_t wait_us = 0;          ///< sum of the times in `waits`, microseconds
  /// Reads by the time from being asked for to their end: [b] of 2^b .. 2^(b+1) - 1 microseconds.
  static constexpr std::size_t kWaits = 32;
  std::array<std::uint64_t, kWaits> waits{};
};
/// Any thread.
cold_read_statistics cold_reads() noexcept;

/// For one thread, but for what others' reads tell it. What has a page of COLD's file to read past
/// the page cache does so, by io_uring or threads; where COLD has no file, or one whose file system
/// does not allow that, threads bring the pages back to DRAM instead.
class cold_reader {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Fails where there are no descriptors or threads left, and in a fork child, which may do no
  /// more with its parent's readers than destroy them.
  static base::result<std::unique_ptr<cold_reader>> make(
      os::read_queue::engine chosen = os::read_queue::engine::best);
  /// leave(), and waits for what is under way. What the disk has not answered then ends as
  /// cancelled, and stays in memory for ever.
  ~cold_reader();
  cold_reader(const cold_reader&) = delete;
  cold_reader& operator=(const cold_reader&) = delete;

  /// Can be read from when take_ended() has something to tell.
  int descriptor() const noexcept { return queue_->descriptor(); }
  std::string_view engine() const noexcept { return queue_->name(); }

  /// Asks for the pages of a missed object; take_ended() tells `ticket` when they have been read.
  /// What another thread has under way is not read once more, unless that one comes to be busy
  /// (end_unanswered()). At most kBytesUnderWay are read at a time, or one object; the others wait
  /// their turn, at which those that nobody keeps any more end as cancelled. Call submit() when all
  /// are asked for. Throws where there is no memory for it, and has done nothing then.
  std::shared_ptr<const cold_read> read(miss&& wanted, std::uint64_t ticket);
  void submit();
  /// Nothing more is asked for, nor told: what was not started ends as cancelled, what follows
  /// another reader's never ends, and what is under way has some seconds from now on, so that
  /// several readers that go wait for them together.
  void leave();
  /// Waits until there is something to tell, or so long.
  void wait(int milliseconds) const noexcept { queue_->wait(milliseconds); }
  /// Calls tell(ticket) for each read that has ended. What it throws is passed on, and the next
  /// call begins with that ticket.
  void take_ended(const std::function<void(std::uint64_t ticket)>& tell);

  /// If the disk has answered nothing for read_limits().answers_within: ends with ETIME, for
  /// take_ended() to tell, all that it was asked for, and returns how many. Until it answers again,
  /// what is asked for meanwhile has answers_one_within. A disk that is only slow has as long as it
  /// takes; while an object of more than kBytesUnderWay is read, it has a second more for each
  /// further kBytesUnderWay. Reads itself what it shares with a reader whose thread has not called
  /// this for kLooksWithin: that one may be busy for long. To be called several times a second:
  /// after some seconds without a call the disk's time begins anew. Takes next to nothing while the
  /// disk answers.
  std::size_t end_unanswered(time_point now = std::chrono::steady_clock::now());
  static constexpr std::chrono::milliseconds kLooksWithin{250};

  static constexpr std::size_t kBytesUnderWay = std::size_t{4} << 20;
  /// Reads that were given up keep their memory until the disk answers them, and count no more as
  /// under way. While it answers nothing, one read at a time, of kBytesUnderWay at most, is started
  /// to see whether it does again, until so many bytes have been given up (a larger object counts
  /// as kBytesUnderWay). Then it is asked for nothing more before it has answered one of these, or
  /// nobody has called end_unanswered() for some seconds.
  static constexpr std::size_t kBytesGivenUp = 4 * kBytesUnderWay;

 private:
  explicit cold_reader(std::unique_ptr<os::read_queue> queue) : queue_(std::move(queue)) {}
  static std::shared_ptr<cold_read> leader_for(const base::page_span& where);
  std::shared_ptr<cold_read> mine_of(const std::shared_ptr<cold_read>& leader,
                                     const base::page_span& where) const;
  std::shared_ptr<cold_read> make(miss&& wanted);
  void publish(const std::shared_ptr<cold_read>& made);
  void follow(const std::shared_ptr<cold_read>& made, cold_read& leader);
  void adopt_orphans() noexcept;
  bool may_start(std::size_t bytes) const noexcept;
  void start_waiting();
  void take_answers();
  void has_answered(time_point when) noexcept;
  bool is_silent(time_point now) const noexcept;
  void end(cold_read& ended, int error) noexcept;
  void tell(cold_read& ended, int error) noexcept;
  std::size_t end_late(time_point now);
  void note_given_up(const cold_read& late) noexcept;
  void leave_busy_readers(time_point now) noexcept;
  void give_up();

  std::unique_ptr<os::read_queue> queue_;
  std::deque<std::shared_ptr<cold_read>> waiting_;
  std::vector<std::weak_ptr<cold_read>> following_;  // reads of this reader that follow, or have
  std::size_t bytes_under_way_ = 0;                  // without those given up
  // Given up: ended by end_unanswered(), and not answered by the disk.
  std::size_t bytes_given_up_ = 0;
  std::size_t given_up_ = 0;  // reads
  time_point answered_;       // when the disk answered last, or was asked with nothing under way
  bool is_known_silent_ = false;  // reads have been given up since
  // By end_unanswered(). Relaxed: other readers compare it with the time, and it publishes nothing.
  base::atomic<time_point> looked_{time_point()};
  time_point left_until_;  // zero: leave() was not called
  bool copies_ = true;     // false: pages come back to DRAM
  // Nodes of the lists of reads that have ended, so that no end needs memory.
  std::list<std::uint64_t> mail_;                  // to be told; under the mutex
  std::list<std::uint64_t> telling_;               // taken from there
  std::list<std::shared_ptr<cold_read>> orphans_;  // have followed; under the mutex
};

}  // namespace isotherm::heap
