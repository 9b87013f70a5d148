#include "heap/cold/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "heap/cold/statistics.hpp"
#include "heap/configure.hpp"
#include "heap/ranges.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::heap {
namespace {

using clock = std::chrono::steady_clock;

shared_reads& shared() { return shared_reads::of_process(); }

/// Returns the bytes that a read counts for in bytes_given_up_. An object of more than
/// kBytesUnderWay is read alone, and would leave no room for any other.
std::size_t given_up_size(std::size_t bytes) noexcept {
  return std::min(bytes, cold_reader::kBytesUnderWay);
}

/// Brings the pages of a mapped COLD back to DRAM.
void populate(os::queued_read& wanted) {
  std::byte* const begin = heaps().packed(kind::cold).extents().begin() + wanted.offset;
  static_cast<void>(os::advise(begin, wanted.bytes, os::advice::populate));
}

}  // namespace

base::result<std::unique_ptr<cold_reader>> cold_reader::make(os::read_queue::engine chosen) {
  // The parent's reads never end there, and a thread that is gone may hold the mutex.
  if (heaps().is_fork_childs) {
    return std::unexpected(base::error{"a fork child cannot read its parent's COLD", 0});
  }
  const backing& pages = heaps().packed(kind::cold).extents().pages();
  if (pages.is_logged()) {
    auto queue = os::read_queue::open(*pages.file(), chosen);
    if (!queue) return std::unexpected(queue.error());
    return std::unique_ptr<cold_reader>(new cold_reader(std::move(*queue)));
  }
  auto queue = os::read_queue::of(&populate);
  if (!queue) return std::unexpected(queue.error());
  auto made = std::unique_ptr<cold_reader>(new cold_reader(std::move(*queue)));
  made->copies_ = false;
  return made;
}

std::shared_ptr<const cold_read> cold_reader::read(miss&& wanted, std::uint64_t ticket) {
  auto answer = shared().ask(mailbox_, std::move(wanted), ticket);
  waiting_.splice(waiting_.end(), answer.to_submit);
  return std::move(answer.read);
}

void cold_reader::leave() {
  if (left_until_ != time_point()) return;
  left_until_ = clock::now() + read_limits().leaves_within;
  shared().drop_followers(mailbox_);
  // Followers of the reads that wait here go on by themselves.
  for (; !waiting_.empty(); waiting_.pop_front()) shared().end(*waiting_.front(), ECANCELED);
}

cold_reader::~cold_reader() {
  if (heaps().is_fork_childs) {  // its threads and shared_reads are the parent's
    static_cast<void>(queue_.release());
    return;
  }
  leave();
  while (queue_->under_way() > 0 && clock::now() < left_until_) {
    queue_->wait(100);
    take_ended([](std::uint64_t) {});
  }
  if (queue_->under_way() == 0) return;
  // Followers of the reads that the disk has not answered go on by themselves.
  shared().cancel_all(mailbox_);
  cold_read_counts.unanswered.fetch_sub_relaxed(given_up_);  // no thread gets their answers
  static_cast<void>(queue_.release());  // the reads that the disk writes to keep themselves
}

void cold_reader::submit() {
  start_waiting();
  queue_->submit();
}

bool cold_reader::may_start(std::size_t bytes) const noexcept {
  const bool has_room = bytes_given_up_ + given_up_size(bytes) <= kBytesGivenUp;
  if (is_known_silent_) return bytes_under_way_ == 0 && bytes <= kBytesUnderWay && has_room;
  if (bytes_under_way_ == 0) return true;
  return has_room && bytes_under_way_ + bytes <= kBytesUnderWay;
}

void cold_reader::start_waiting() {
  while (!waiting_.empty()) {
    // This list and the table of shared_reads keep it: no thread waits for it any more.
    const bool is_left = waiting_.front().use_count() == 2;
    const std::shared_ptr<cold_read> next = waiting_.front();
    cold_read::transfer& transfer = next->disk_transfer();
    const base::page_span& where = next->where();
    if (!may_start(where.bytes)) return;
    waiting_.pop_front();
    if (copies_ && !is_left) {
      transfer.copy.reset(
          static_cast<std::byte*>(std::aligned_alloc(base::kPageBytes, where.bytes)));
    }
    if (is_left || (copies_ && !transfer.copy)) {
      shared().end(*next, is_left ? ECANCELED : ENOMEM);
      queue_->wake();  // for take_ended(): the disk answers nothing here
      continue;
    }
    transfer.of = next.get();
    transfer.to = transfer.copy.get();
    transfer.offset = where.offset;
    transfer.bytes = where.bytes;
    transfer.keeps = next;
    if (bytes_under_way_ == 0) answered_ = clock::now();
    bytes_under_way_ += where.bytes;
    queue_->start(transfer);
  }
}

void cold_reader::take_answers() {
  while (os::queued_read* const request = queue_->take_ended()) {
    auto& transfer = static_cast<cold_read::transfer&>(*request);
    cold_read& answered = *transfer.of;
    const std::shared_ptr<cold_read> kept = std::move(transfer.keeps);
    record_answer(clock::now());
    if (!copies_ && request->error == 0) heaps().cold().mark_in(answered.where());
    if (answered.has_ended()) {  // by end_unanswered()
      --given_up_;
      bytes_given_up_ -= given_up_size(answered.where().bytes);
      cold_read_counts.unanswered.fetch_sub_relaxed(1);
    } else {
      bytes_under_way_ -= answered.where().bytes;
      shared().end(answered, request->error);
    }
  }
}

void cold_reader::record_answer(time_point when) noexcept {
  answered_ = when;
  is_known_silent_ = false;
}

void cold_reader::take_ended(const std::function<void(std::uint64_t)>& report) {
  queue_->acknowledge();  // first: a reader that delivers a ticket later wakes this one again
  take_answers();
  auto adopted = shared().adopt_orphans(mailbox_);
  waiting_.splice(waiting_.end(), adopted);
  submit();
  shared().collect_tickets(mailbox_, tickets_);
  for (; !tickets_.empty(); tickets_.pop_front()) report(tickets_.front());
}

bool cold_reader::is_silent(time_point now) const noexcept {
  const std::size_t beyond = bytes_under_way_ - std::min(bytes_under_way_, kBytesUnderWay);
  const std::chrono::milliseconds patience =
      read_limits().answers_within + std::chrono::seconds(beyond / kBytesUnderWay);
  return is_known_silent_ || (bytes_under_way_ > 0 && now - answered_ >= patience);
}

std::size_t cold_reader::end_unanswered(time_point now) {
  // A thread that was stopped for a while has not seen the disk's answers.
  if (now - mailbox_.checked_at() > read_limits().answers_within / 2) record_answer(now);
  mailbox_.record_check(now);
  shared().leave_busy_leaders(mailbox_, now - kLooksWithin);
  if (!is_silent(now)) return 0;
  queue_->wake();  // take_ended() is to run: reads that end here wake no thread
  take_answers();  // the disk may have answered since take_ended()
  if (!is_silent(now)) return 0;
  return end_late(now);
}

/// Ends with ETIME the reads of this reader for which the disk has had time enough, and returns
/// their number. Followers of those that were not submitted are tried by their own readers.
std::size_t cold_reader::end_late(time_point now) {
  const time_point late_by = now - read_limits().answers_one_within;
  // A submitted read is alone once the silence is known: the disk was asked for it at answered_.
  const bool is_submitted_late = answered_ <= late_by;
  std::size_t ended = 0;
  for (const auto& each : shared().reads_asked_by(mailbox_, late_by)) {
    if (each->is_submitted()) {
      if (!is_submitted_late) continue;
      count_given_up(*each);
    }
    shared().end(*each, ETIME);
    ++ended;
  }
  std::erase_if(waiting_, [](const auto& each) { return each->has_ended(); });
  return ended;
}

void cold_reader::count_given_up(const cold_read& late) noexcept {
  ++given_up_;
  bytes_given_up_ += given_up_size(late.where().bytes);
  bytes_under_way_ -= late.where().bytes;
  is_known_silent_ = true;
  cold_read_counts.unanswered.fetch_add_relaxed(1);
}

}  // namespace isotherm::heap
