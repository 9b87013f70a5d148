#include "heap/cold/reader.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heap/ranges.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::heap {
namespace {

using clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(5);
/// While the disk is silent a read may be the first that it answers again; others may have been
/// lost in it.
constexpr auto kAnswersOneWithin = std::chrono::seconds(1);

/// All reads under way, by the offset of their pages, so that one serves all who wait for it. The
/// mutex guards this, the waiters of each read, and the mail of each reader: a reader that another
/// one tells of an end cannot go meanwhile.
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
  left_until_ = clock::now() + kPatience;
  {
    const std::lock_guard lock(shared().mutex);
    for (auto& [offset, read] : shared().under_way) {
      std::erase_if(read->waiters_, [this](const auto& each) { return each.reader == this; });
    }
  }
  // For the sake of readers that share them.
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

/// Those who share what the disk has not answered are told, and nobody joins it any more.
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
  std::list<cold_read::waiter> asks{{this, ticket}};
  const base::page_span where = wanted.where();
  const std::size_t bytes = wanted.bytes();
  const std::lock_guard lock(shared().mutex);
  const auto is_enough = [&where](const auto& each) {
    return each.second->where().bytes >= where.bytes;
  };
  const auto [first, last] = shared().under_way.equal_range(where.offset);
  const auto at = std::find_if(first, last, is_enough);
  std::shared_ptr<cold_read> found;
  if (at != last) {
    found = at->second;
    if (wanted.before() == used_before::yes) found->before_ = used_before::yes;
    tally.shared_reads.fetch_add_relaxed(1);
  } else {
    found = std::make_shared<cold_read>(std::move(wanted));
    publish(found);
  }
  found->waiters_.splice(found->waiters_.end(), asks);
  tally.misses.fetch_add_relaxed(1);
  tally.requested_bytes.fetch_add_relaxed(bytes);
  return found;
}

/// With the mutex. Either it is going to be started, and others find it, or there is no memory.
void cold_reader::publish(const std::shared_ptr<cold_read>& made) {
  made->asked_ = clock::now();
  made->by_ = this;
  waiting_.push_back(made);
  try {
    shared().under_way.emplace(made->where().offset, made);
  } catch (const std::bad_alloc&) {
    waiting_.pop_back();
    throw;
  }
  tally.under_way.fetch_add_relaxed(1);
}

void cold_reader::submit() {
  start_waiting();
  queue_->submit();
}

void cold_reader::start_waiting() {
  while (!waiting_.empty()) {
    // Kept by this list, and by that of all reads under way: whoever waited for it has gone.
    const bool is_left = waiting_.front().use_count() == 2;
    const std::shared_ptr<cold_read> next = waiting_.front();
    const base::page_span& where = next->where();
    if (bytes_under_way_ > 0 && bytes_under_way_ + where.bytes > kBytesUnderWay) return;
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
    bytes_under_way_ += where.bytes;
    if (queue_->under_way() == 0) answered_ = clock::now();
    queue_->start(next->request_);
  }
}

/// Tells all who wait, this thread's by way of `telling_`.
void cold_reader::end(cold_read& ended, int error) noexcept {
  tally.under_way.fetch_sub_relaxed(1);
  if (error != ECANCELED) {
    count_wait(ended.asked_);
    tally.reads.fetch_add_relaxed(1);
    tally.read_bytes.fetch_add_relaxed(ended.where().bytes);
    if (error != 0) tally.failed_reads.fetch_add_relaxed(1);
  }
  const std::lock_guard lock(shared().mutex);
  ended.error_ = error;
  ended.has_ended_.store_release(true);
  while (!ended.waiters_.empty()) {
    cold_reader& waits = *ended.waiters_.front().reader;
    auto& told = &waits == this ? telling_ : waits.mail_;
    told.splice(told.end(), ended.waiters_, ended.waiters_.begin());
    if (&waits != this) waits.queue_->wake();
  }
  const auto [first, last] = shared().under_way.equal_range(ended.where().offset);
  const auto at =
      std::find_if(first, last, [&](const auto& each) { return each.second.get() == &ended; });
  if (at != last) shared().under_way.erase(at);
}

void cold_reader::take_answers() {
  while (os::queued_read* const request = queue_->take_ended()) {
    cold_read& ended = *static_cast<cold_read::request&>(*request).of;
    bytes_under_way_ -= ended.where().bytes;
    const std::shared_ptr<cold_read> kept = std::move(ended.myself_);
    answered_ = clock::now();
    if (!copies_ && request->error == 0) heaps().packed(kind::cold).mark_in(ended.where());
    if (ended.has_ended()) {  // by end_unanswered()
      --given_up_;
      tally.unanswered.fetch_sub_relaxed(1);
    } else {
      end(ended, request->error);
    }
  }
}

void cold_reader::take_ended(const std::function<void(std::uint64_t)>& tell) {
  queue_->acknowledge();
  take_answers();
  submit();
  {
    const std::lock_guard lock(shared().mutex);
    telling_.splice(telling_.end(), mail_);
  }
  for (; !telling_.empty(); telling_.pop_front()) tell(telling_.front().ticket);
}

bool cold_reader::is_silent(time_point now) const noexcept {
  const std::size_t beyond = bytes_under_way_ - std::min(bytes_under_way_, kBytesUnderWay);
  const std::chrono::seconds patience =
      kAnswersWithin + std::chrono::seconds(beyond / kBytesUnderWay);
  return queue_->under_way() > 0 && now - answered_ >= patience;
}

std::size_t cold_reader::end_unanswered(time_point now) {
  // Whoever was stopped for a while has not seen what the disk did.
  if (now - std::exchange(looked_, now) > kAnswersWithin / 2) answered_ = now;
  if (!is_silent(now)) return 0;
  queue_->wake();  // take_ended() is to run: what is taken or ended here wakes nobody
  take_answers();  // which nobody has looked at
  if (!is_silent(now)) return 0;
  std::vector<std::shared_ptr<cold_read>> late;
  try {
    const std::lock_guard lock(shared().mutex);
    for (const auto& [offset, read] : shared().under_way) {
      if (read->by_ == this && now - read->asked_ >= kAnswersOneWithin) late.push_back(read);
    }
  } catch (const std::bad_alloc&) {
    // The others with the next call.
  }
  for (const auto& each : late) {
    if (each->myself_ != nullptr) {
      ++given_up_;
      tally.unanswered.fetch_add_relaxed(1);
    }
    end(*each, ETIME);
  }
  std::erase_if(waiting_, [](const auto& each) { return each->has_ended(); });
  return late.size();
}

}  // namespace isotherm::heap
