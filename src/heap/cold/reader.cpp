#include "heap/cold/reader.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "heap/ranges.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::heap {
namespace {

using clock = std::chrono::steady_clock;

/// All reads under way, by the offset of their pages, so that one serves all who wait for it. The
/// mutex guards this, who waits for each read, which follow it, and what readers hand to each
/// other: one that is told of an end cannot go meanwhile.
struct shared_reads {
  std::mutex mutex;
  std::unordered_multimap<std::uint64_t, std::shared_ptr<cold_read>> under_way;
};
shared_reads& shared() {
  static auto* const made = new shared_reads;  // outlives every static destructor
  return *made;
}

struct counters {
  base::atomic<std::uint64_t> misses{0}, reads{0}, shared_reads{0}, failed_reads{0}, read_bytes{0},
      requested_bytes{0}, under_way{0}, unanswered{0}, wait_us{0};
  std::array<base::atomic<std::uint64_t>, cold_read_statistics::kWaits> waits{};
};
counters tally;

/// What a read counts for in bytes_given_up_. A larger object is read alone, and would leave no
/// room for any other.
std::size_t given_up_size(std::size_t bytes) noexcept {
  return std::min(bytes, cold_reader::kBytesUnderWay);
}

void count_wait(clock::time_point asked) noexcept {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - asked);
  const auto waited = static_cast<std::uint64_t>(std::max<std::int64_t>(us.count(), 1));
  const auto bits = std::bit_width(waited);
  const auto last = cold_read_statistics::kWaits;
  tally.waits[std::min<std::size_t>(static_cast<std::size_t>(bits), last) - 1].fetch_add_relaxed(1);
  tally.wait_us.fetch_add_relaxed(waited);
}

/// Brings the pages back to DRAM. A page that cannot be read stays where it is: whoever uses the
/// object finds that out (readable.hpp).
void populate(os::queued_read& wanted) {
  std::byte* const begin = heaps().packed(kind::cold).begin() + wanted.offset;
  static_cast<void>(os::advise(begin, wanted.bytes, os::advice::populate));
}

}  // namespace

cold_read_statistics cold_reads() noexcept {
  cold_read_statistics seen{.misses = tally.misses.load_relaxed(),
                            .reads = tally.reads.load_relaxed(),
                            .shared_reads = tally.shared_reads.load_relaxed(),
                            .failed_reads = tally.failed_reads.load_relaxed(),
                            .read_bytes = tally.read_bytes.load_relaxed(),
                            .requested_bytes = tally.requested_bytes.load_relaxed(),
                            .under_way = tally.under_way.load_relaxed(),
                            .unanswered = tally.unanswered.load_relaxed(),
                            .wait_us = tally.wait_us.load_relaxed()};
  for (std::size_t i = 0; i < seen.waits.size(); ++i) seen.waits[i] = tally.waits[i].load_relaxed();
  return seen;
}

base::result<std::unique_ptr<cold_reader>> cold_reader::make(os::read_queue::engine chosen) {
  // What the parent had under way never ends there, and a thread that is gone may hold the mutex.
  if (heaps().is_fork_childs) {
    return std::unexpected(base::error{"a fork child cannot read its parent's COLD", 0});
  }
  const backing& pages = heaps().packed(kind::cold).pages();
  if (pages.file() != nullptr) {
    if (auto queue = os::read_queue::open(*pages.file(), chosen)) {
      return std::unique_ptr<cold_reader>(new cold_reader(std::move(*queue)));
    }
  }
  auto queue = os::read_queue::of(&populate);
  if (!queue) return std::unexpected(queue.error());
  auto made = std::unique_ptr<cold_reader>(new cold_reader(std::move(*queue)));
  made->copies_ = false;
  return made;
}

void cold_reader::leave() {
  if (left_until_ != clock::time_point()) return;
  left_until_ = clock::now() + read_limits().leaves_within;
  std::list<std::shared_ptr<cold_read>> dropped;  // go without the mutex
  {
    const std::lock_guard lock(shared().mutex);
    for (auto& [offset, read] : shared().under_way) {
      auto& all = read->followers_;
      for (auto at = all.begin(); at != all.end();) {
        const auto each = at++;
        if ((*each)->by_ == this) dropped.splice(dropped.end(), all, each);
      }
    }
    dropped.splice(dropped.end(), orphans_);
    for (const auto& each : dropped) each->leader_ = nullptr;
  }
  // For the sake of readers that follow them.
  for (; !waiting_.empty(); waiting_.pop_front()) end(*waiting_.front(), ECANCELED);
}

cold_reader::~cold_reader() {
  if (heaps().is_fork_childs) {  // its threads, and what it shares, are the parent's
    static_cast<void>(queue_.release());
    return;
  }
  leave();
  while (queue_->under_way() > 0 && clock::now() < left_until_) {
    queue_->wait(100);
    take_ended([](std::uint64_t) {});
  }
  if (queue_->under_way() > 0) give_up();
}

/// What follows reads that the disk has not answered goes on by itself.
void cold_reader::give_up() {
  const auto one_of_mine = [this]() -> std::shared_ptr<cold_read> {
    const std::lock_guard lock(shared().mutex);
    const auto is_mine = [this](const auto& each) { return each.second->by_ == this; };
    const auto at = std::ranges::find_if(shared().under_way, is_mine);
    return at == shared().under_way.end() ? nullptr : at->second;
  };
  while (const auto read = one_of_mine()) end(*read, ECANCELED);
  tally.unanswered.fetch_sub_relaxed(given_up_);  // nobody is going to know
  static_cast<void>(queue_.release());  // what it reads to is its own (cold_read::myself_)
}

std::shared_ptr<const cold_read> cold_reader::read(miss&& wanted, std::uint64_t ticket) {
  std::list<std::uint64_t> tickets{ticket};
  const std::size_t bytes = wanted.bytes();
  const used_before before = wanted.before();
  const std::lock_guard lock(shared().mutex);
  const auto leader = leader_for(wanted.where());
  std::shared_ptr<cold_read> found = mine_of(leader, wanted.where());
  if (found == nullptr) {
    found = make(std::move(wanted));
    leader == nullptr ? publish(found) : follow(found, *leader);
  }
  if (leader != nullptr) tally.shared_reads.fetch_add_relaxed(1);
  if (before == used_before::yes) {
    found->before_ = before;
    if (leader != nullptr) leader->before_ = before;
  }
  found->tickets_.splice(found->tickets_.end(), tickets);
  tally.misses.fetch_add_relaxed(1);
  tally.requested_bytes.fetch_add_relaxed(bytes);
  return found;
}

/// With the mutex. A read of all of these pages that may be followed, or null.
std::shared_ptr<cold_read> cold_reader::leader_for(const base::page_span& where) {
  const auto [first, last] = shared().under_way.equal_range(where.offset);
  const auto at = std::find_if(first, last, [&where](const auto& each) {
    return each.second->where().bytes >= where.bytes && !each.second->is_left_alone_;
  });
  return at == last ? nullptr : at->second;
}

/// With the mutex. That read, or one that follows it and tells what is in these pages, if it is
/// this reader's; null: none is.
std::shared_ptr<cold_read> cold_reader::mine_of(const std::shared_ptr<cold_read>& leader,
                                                const base::page_span& where) const {
  if (leader == nullptr || leader->by_ == this) return leader;
  const auto& all = leader->followers_;
  const auto at = std::ranges::find_if(all, [this, &where](const auto& each) {
    return each->by_ == this && each->where().bytes >= where.bytes;
  });
  return at == all.end() ? nullptr : *at;
}

std::shared_ptr<cold_read> cold_reader::make(miss&& wanted) {
  auto made = std::make_shared<cold_read>(std::move(wanted));
  made->by_ = this;
  made->asked_ = clock::now();
  return made;
}

/// With the mutex. Either it is going to be started, and others find it, or there is no memory.
void cold_reader::publish(const std::shared_ptr<cold_read>& made) {
  waiting_.push_back(made);
  try {
    shared().under_way.emplace(made->where().offset, made);
  } catch (const std::bad_alloc&) {
    waiting_.pop_back();
    throw;
  }
  tally.under_way.fetch_add_relaxed(1);
}

/// With the mutex. It is told of the other's end, or there is no memory.
void cold_reader::follow(const std::shared_ptr<cold_read>& made, cold_read& leader) {
  following_.push_back(made);
  try {
    leader.followers_.push_back(made);
  } catch (const std::bad_alloc&) {
    following_.pop_back();
    throw;
  }
  made->leader_ = &leader;
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
    // Kept by this list, and by that of all reads under way: whoever waited for it has gone.
    const bool is_left = waiting_.front().use_count() == 2;
    const std::shared_ptr<cold_read> next = waiting_.front();
    const base::page_span& where = next->where();
    if (!may_start(where.bytes)) return;
    waiting_.pop_front();
    if (copies_ && !is_left) {
      next->data_.reset(static_cast<std::byte*>(std::aligned_alloc(base::kPageBytes, where.bytes)));
    }
    if (is_left || (copies_ && !next->data_)) {
      end(*next, is_left ? ECANCELED : ENOMEM);
      queue_->wake();  // no end of a read tells it
      continue;
    }
    next->request_.of = next.get();
    next->request_.to = next->data_.get();
    next->request_.offset = where.offset;
    next->request_.bytes = where.bytes;
    next->myself_ = next;
    if (bytes_under_way_ == 0) answered_ = clock::now();
    bytes_under_way_ += where.bytes;
    queue_->start(next->request_);
  }
}

/// Tells those who wait for it and for what follows it. What its error says nothing of is read anew
/// by whom it belongs to.
void cold_reader::end(cold_read& ended, int error) noexcept {
  tally.under_way.fetch_sub_relaxed(1);
  if (error != ECANCELED) {
    count_wait(ended.asked_);
    tally.reads.fetch_add_relaxed(1);
    tally.read_bytes.fetch_add_relaxed(ended.where().bytes);
    if (error != 0) tally.failed_reads.fetch_add_relaxed(1);
  }
  std::shared_ptr<cold_read> kept;
  std::list<std::shared_ptr<cold_read>> told;  // go without the mutex
  const std::lock_guard lock(shared().mutex);
  const auto [first, last] = shared().under_way.equal_range(ended.where().offset);
  const auto at =
      std::find_if(first, last, [&](const auto& each) { return each.second.get() == &ended; });
  ISO_ASSERT(at != last, "a read is found until it has ended");
  kept = std::move(at->second);
  shared().under_way.erase(at);
  tell(ended, error);
  const bool was_tried = error != ECANCELED && (error != ETIME || ended.myself_ != nullptr);
  while (!ended.followers_.empty()) {
    const auto next = ended.followers_.begin();
    cold_read& each = **next;
    cold_reader& whose = *each.by_;
    each.leader_ = nullptr;
    if (error == 0 || (was_tried && each.where().bytes == ended.where().bytes)) {
      each.served_by_ = kept;
      each.before_ = ended.before_;
      whose.tell(each, error);
      told.splice(told.end(), ended.followers_, next);
    } else {
      whose.orphans_.splice(whose.orphans_.end(), ended.followers_, next);
    }
    whose.queue_->wake();
  }
}

/// With the mutex; of a read of this reader's.
void cold_reader::tell(cold_read& ended, int error) noexcept {
  ended.error_ = error;
  ended.has_ended_.store_release(true);
  mail_.splice(mail_.end(), ended.tickets_);
}

/// What followed a read that told it nothing, or whose thread is busy.
void cold_reader::adopt_orphans() noexcept {
  std::list<std::shared_ptr<cold_read>> adopted;  // go without the mutex
  const std::lock_guard lock(shared().mutex);
  while (!orphans_.empty()) {
    const auto next = orphans_.begin();
    if (const auto leader = leader_for((*next)->where())) {
      (*next)->leader_ = leader.get();
      if ((*next)->before_ == used_before::yes) leader->before_ = used_before::yes;
      leader->followers_.splice(leader->followers_.end(), orphans_, next);
      continue;
    }
    try {
      publish(*next);
    } catch (const std::bad_alloc&) {
      tell(**next, ENOMEM);
    }
    adopted.splice(adopted.end(), orphans_, next);
  }
}

void cold_reader::take_answers() {
  while (os::queued_read* const request = queue_->take_ended()) {
    cold_read& ended = *static_cast<cold_read::request&>(*request).of;
    const std::shared_ptr<cold_read> kept = std::move(ended.myself_);
    has_answered(clock::now());
    if (!copies_ && request->error == 0) heaps().packed(kind::cold).mark_in(ended.where());
    if (ended.has_ended()) {  // by end_unanswered()
      --given_up_;
      bytes_given_up_ -= given_up_size(ended.where().bytes);
      tally.unanswered.fetch_sub_relaxed(1);
    } else {
      bytes_under_way_ -= ended.where().bytes;
      end(ended, request->error);
    }
  }
}

void cold_reader::has_answered(time_point when) noexcept {
  answered_ = when;
  is_known_silent_ = false;
}

void cold_reader::take_ended(const std::function<void(std::uint64_t)>& tell) {
  queue_->acknowledge();
  take_answers();
  adopt_orphans();
  submit();
  {
    const std::lock_guard lock(shared().mutex);
    telling_.splice(telling_.end(), mail_);
  }
  for (; !telling_.empty(); telling_.pop_front()) tell(telling_.front());
}

bool cold_reader::is_silent(time_point now) const noexcept {
  const std::size_t beyond = bytes_under_way_ - std::min(bytes_under_way_, kBytesUnderWay);
  const std::chrono::milliseconds patience =
      read_limits().answers_within + std::chrono::seconds(beyond / kBytesUnderWay);
  return is_known_silent_ || (bytes_under_way_ > 0 && now - answered_ >= patience);
}

std::size_t cold_reader::end_unanswered(time_point now) {
  // Whoever was stopped for a while has not seen what the disk did.
  if (now - looked_.load_relaxed() > read_limits().answers_within / 2) has_answered(now);
  looked_.store_relaxed(now);
  leave_busy_readers(now);
  if (!is_silent(now)) return 0;
  queue_->wake();  // take_ended() is to run: what is taken or ended here wakes nobody
  take_answers();  // which nobody has looked at
  if (!is_silent(now)) return 0;
  return end_late(now);
}

/// What follows a read of one whose thread is busy, or calls nothing any more, goes on by itself.
void cold_reader::leave_busy_readers(time_point now) noexcept {
  bool has_left_some = false;
  std::erase_if(following_, [&](const auto& each) {
    const std::shared_ptr<cold_read> mine = each.lock();
    if (mine == nullptr) return true;
    const std::lock_guard lock(shared().mutex);
    if (mine->has_ended()) return true;
    cold_read* const leader = mine->leader_;
    if (leader == nullptr) return false;  // it has gone on by itself, or is going to
    // The other reader lives: with the mutex, it ends all of its reads before it goes.
    const time_point looked = std::max(leader->by_->looked_.load_relaxed(), leader->asked_);
    if (now - looked < kLooksWithin) return false;
    leader->is_left_alone_ = true;
    mine->leader_ = nullptr;
    auto& all = leader->followers_;
    orphans_.splice(orphans_.end(), all, std::ranges::find(all, mine));
    has_left_some = true;
    return false;
  });
  if (has_left_some) queue_->wake();  // take_ended() is to run
}

/// Of what this reader was asked for, what the disk has had time for. What others ask for too, and
/// this one has not tried, is for them to try.
std::size_t cold_reader::end_late(time_point now) {
  // Of one that was started the disk was asked then: it is alone, once the silence is known.
  const auto asked = [this](const cold_read& each) {
    return each.myself_ == nullptr ? each.asked_ : std::max(each.asked_, answered_);
  };
  const auto patience = read_limits().answers_one_within;
  std::vector<std::shared_ptr<cold_read>> late;
  try {
    const std::lock_guard lock(shared().mutex);
    for (const auto& [offset, read] : shared().under_way) {
      if (read->by_ == this && now - asked(*read) >= patience) late.push_back(read);
    }
  } catch (const std::bad_alloc&) {
    // The others with the next call.
  }
  for (const auto& each : late) {
    if (each->myself_ != nullptr) note_given_up(*each);
    end(*each, ETIME);
  }
  std::erase_if(waiting_, [](const auto& each) { return each->has_ended(); });
  return late.size();
}

void cold_reader::note_given_up(const cold_read& late) noexcept {
  ++given_up_;
  bytes_given_up_ += given_up_size(late.where().bytes);
  bytes_under_way_ -= late.where().bytes;
  is_known_silent_ = true;
  tally.unanswered.fetch_add_relaxed(1);
}

}  // namespace isotherm::heap
