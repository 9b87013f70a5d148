// The reads of COLD of all threads of the process: threads that miss the same pages wait for one
// read. shared_reads owns all state that crosses threads, under one mutex. A cold_reader
// (reader.hpp) asks here for a read, submits to the disk the reads that it gets to submit, and
// reports their ends.
//
//   leader     a read in the table. Its reader has submitted it, or is going to
//   follower   a read of pages that a leader reads, as a rule one of another reader. It ends when
//              the leader ends, and uses the leader's copy
//   orphan     a read that was a follower, and whose own reader is to adopt it
//   mailbox    the part of a reader that other readers reach: they put orphans and the tickets of
//              ended reads there, and wake the reader
//
// States of a read. R is the reader that made it, L the reader of its leader. A state is the place
// where the read is; no variable repeats it.
//
//   state       place               transition                                   to
//   queued      table, waiting list R submits it                                 submitted
//               of R                R cancels it: no thread keeps it, or R goes  ended, ECANCELED
//                                   R finds no memory for the copy               ended, ENOMEM
//                                   R ends it: the disk is silent                ended, ETIME
//   submitted   table, read_queue   R gets the disk's answer                     ended, 0 or errno
//               of R                R ends it: the disk is silent                silent, ETIME
//                                   R goes, and the disk has not answered        silent, ECANCELED
//   following   the leader's        L ends the leader, with an answer for these  ended, as the
//               followers             pages                                        leader
//                                   L ends the leader without one                orphaned
//                                   R finds that the thread of L is busy         orphaned
//                                   R goes                                       dropped
//   orphaned    mailbox of R        R adopts it: the table has a leader for it   following
//                                   R adopts it: it leads                        queued
//                                   R adopts it, and finds no memory             ended, ENOMEM
//                                   R goes                                       dropped
//   silent      read_queue of R     R gets the disk's late answer                ended, as before
//   ended       none of these
//   dropped     none of these       none: no thread waits for it, and it never ends
//
// A silent read has ended for the threads that wait for it; its memory stays until the disk has
// answered. An end is an answer for the follower if the leader succeeded, or failed to read exactly
// the follower's pages: the failure of more pages may be due to the others. ECANCELED is no answer,
// nor is ETIME of a read that was not submitted.
//
// Invariants, whenever the mutex is free:
//   1. The table has a read if and only if it is queued or submitted. Threads that miss its pages
//      find it there, until a follower has left it because the leader's thread is busy.
//   2. A read has a leader if and only if the leader has it among its followers. Followers and
//      orphans have no followers themselves.
//   3. The mailboxes of the reads in the table and of their followers belong to readers that live:
//      a reader that goes drops its followers and orphans and ends its other reads before. A thread
//      that holds the mutex may write to such a mailbox and wake its reader.
//   4. A ticket is in one place: with its read until that ends, then in the mailbox, then with the
//      reader. A thread that delivers a ticket or an orphan to another thread's reader wakes it.
//   5. A read ends once, with the mutex held, and does not change afterwards.
//
// Only ask() and an adoption need memory: the other transitions move nodes of lists. Reads are
// destroyed without the mutex, as they unpin extents.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/atomic.hpp"
#include "heap/cold/read.hpp"
#include "os/disk/read_queue.hpp"

namespace isotherm::heap {

/// The part of a cold_reader that other readers reach, through shared_reads.
class read_mailbox {
 public:
  using time_point = cold_read::time_point;

  /// `woken` becomes readable when there is mail; it must outlive the mailbox.
  explicit read_mailbox(const os::read_queue& woken) noexcept : woken_(woken) {}
  read_mailbox(const read_mailbox&) = delete;
  read_mailbox& operator=(const read_mailbox&) = delete;

  /// Records that the reader's thread is not busy. Thread: the reader's.
  void record_check(time_point now) noexcept { checked_at_.store_relaxed(now); }
  time_point checked_at() const noexcept { return checked_at_.load_relaxed(); }

 private:
  friend class shared_reads;

  const os::read_queue& woken_;
  // Relaxed, and pairs with nothing: the reader's thread stores it, leave_busy_leaders() of another
  // thread compares it with the time, and it publishes nothing.
  base::atomic<time_point> checked_at_{time_point()};
  // Guarded by the mutex of shared_reads.
  std::list<std::uint64_t> tickets_;  // of reads that have ended
  std::list<std::shared_ptr<cold_read>> orphans_;
  // The reader's thread alone: reads of this reader that are, or were, followers.
  std::vector<std::weak_ptr<cold_read>> following_;
};

/// The reads of all threads.
/// Thread: any; each names the mailbox and the reads of its own reader only.
class shared_reads {
 public:
  using time_point = cold_read::time_point;
  using read_list = std::list<std::shared_ptr<cold_read>>;

  /// Returns the one that the process has. It outlives every static destructor.
  static shared_reads& of_process();

  struct asked {
    std::shared_ptr<const cold_read> read;
    read_list to_submit;  ///< the read, if it is new and leads: the asker's reader submits it
  };
  /// Returns a read of the missed pages, whose end delivers `ticket` to `asker`: one that `asker`
  /// was given before, or a new one. A new one follows another reader's where the table has one.
  /// Errors: throws std::bad_alloc, and has changed nothing then.
  asked ask(read_mailbox& asker, miss&& wanted, std::uint64_t ticket);

  /// Makes followers of the orphans of `adopter` for which the table has a leader, and leaders of
  /// the others. Returns the leaders, for the adopter's reader to submit.
  read_list adopt_orphans(read_mailbox& adopter) noexcept;

  /// Ends a read of the table: delivers its tickets, ends the followers for which its end is an
  /// answer, and makes orphans of the others. Wakes the readers of followers, not its own.
  /// Thread: that of the read's reader.
  void end(cold_read& ended, int error) noexcept;

  /// Ends with ECANCELED all reads of the table that `reader` has made.
  void cancel_all(const read_mailbox& reader) noexcept;

  /// Returns the reads of the table that `reader` has made and was asked for at `asked_by` or
  /// earlier. Some are left out where there is no memory for them.
  std::vector<std::shared_ptr<cold_read>> reads_asked_by(const read_mailbox& reader,
                                                         time_point asked_by) const noexcept;

  /// Makes orphans of those followers of `reader` whose leader's thread is busy: it has made its
  /// last check at `checked_by` or earlier. Such a leader gets no new followers. Wakes the reader
  /// if there are any.
  void leave_busy_leaders(read_mailbox& reader, time_point checked_by) noexcept;

  /// Drops the followers and the orphans of `reader`, which adopts no more.
  void drop_followers(read_mailbox& reader) noexcept;

  /// Moves the tickets of `reader`'s mailbox to the end of `to`.
  void collect_tickets(read_mailbox& reader, std::list<std::uint64_t>& to) noexcept;

 private:
  std::shared_ptr<cold_read> leader_for(const base::page_span& where) const;
  static std::shared_ptr<cold_read> read_of(const read_mailbox& asker,
                                            const std::shared_ptr<cold_read>& leader,
                                            const base::page_span& where);
  void publish(const std::shared_ptr<cold_read>& made);
  static void follow(const std::shared_ptr<cold_read>& made, cold_read& leader);
  std::shared_ptr<cold_read> remove(const cold_read& ended) noexcept;
  std::shared_ptr<cold_read> any_of(const read_mailbox& reader) const noexcept;
  static void deliver(cold_read& ended) noexcept;

  mutable std::mutex mutex_;  // guards the table, each read's `sharing` and the mailboxes
  std::unordered_multimap<std::uint64_t, std::shared_ptr<cold_read>> table_;  // by offset
};

}  // namespace isotherm::heap
