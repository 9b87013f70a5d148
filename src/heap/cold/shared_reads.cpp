#include "heap/cold/shared_reads.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "heap/cold/statistics.hpp"

namespace isotherm::heap {

shared_reads& shared_reads::of_process() {
  static auto* const made = new shared_reads;
  return *made;
}

shared_reads::asked shared_reads::ask(read_mailbox& asker, miss&& wanted, std::uint64_t ticket) {
  std::list<std::uint64_t> tickets{ticket};
  const std::size_t bytes = wanted.bytes();
  const used_before before = wanted.before();
  asked answer;
  std::shared_ptr<cold_read> found;
  const std::lock_guard lock(mutex_);
  const auto leader = leader_for(wanted.where());
  found = read_of(asker, leader, wanted.where());
  if (found == nullptr) {
    found = std::make_shared<cold_read>(std::move(wanted), asker);
    if (leader == nullptr) {
      answer.to_submit.push_back(found);
      publish(found);
    } else {
      follow(found, *leader);
    }
  }
  if (leader != nullptr) cold_read_counts.shared_reads.fetch_add_relaxed(1);
  if (before == used_before::yes) {
    found->sharing().before = before;
    if (leader != nullptr) leader->sharing().before = before;
  }
  found->sharing().tickets.splice(found->sharing().tickets.end(), tickets);
  cold_read_counts.misses.fetch_add_relaxed(1);
  cold_read_counts.requested_bytes.fetch_add_relaxed(bytes);
  answer.read = found;
  return answer;
}

/// Returns a read of all of these pages that may be followed, or null. Requires: the mutex.
std::shared_ptr<cold_read> shared_reads::leader_for(const base::page_span& where) const {
  const auto [first, last] = table_.equal_range(where.offset);
  const auto at = std::find_if(first, last, [&where](const auto& each) {
    return each.second->where().bytes >= where.bytes && each.second->sharing().may_be_followed;
  });
  return at == last ? nullptr : at->second;
}

/// Returns the leader, or a follower of it that reads all of these pages, if `asker` has made it;
/// null where it has made neither. Requires: the mutex.
std::shared_ptr<cold_read> shared_reads::read_of(const read_mailbox& asker,
                                                 const std::shared_ptr<cold_read>& leader,
                                                 const base::page_span& where) {
  if (leader == nullptr || &leader->mailbox() == &asker) return leader;
  const auto& all = leader->sharing().followers;
  const auto at = std::ranges::find_if(all, [&asker, &where](const auto& each) {
    return &each->mailbox() == &asker && each->where().bytes >= where.bytes;
  });
  return at == all.end() ? nullptr : *at;
}

/// Adds a read to the table: other readers find it. Requires: the mutex.
/// Errors: throws std::bad_alloc, and has changed nothing then.
void shared_reads::publish(const std::shared_ptr<cold_read>& made) {
  table_.emplace(made->where().offset, made);
  cold_read_counts.under_way.fetch_add_relaxed(1);
}

/// Makes a new read a follower. Requires: the mutex.
/// Errors: throws std::bad_alloc, and has changed nothing then.
void shared_reads::follow(const std::shared_ptr<cold_read>& made, cold_read& leader) {
  auto& following = made->mailbox().following_;
  following.push_back(made);
  try {
    leader.sharing().followers.push_back(made);
  } catch (const std::bad_alloc&) {
    following.pop_back();
    throw;
  }
  made->sharing().leader = &leader;
}

shared_reads::read_list shared_reads::adopt_orphans(read_mailbox& adopter) noexcept {
  read_list published, failed;  // the second is destroyed without the mutex
  const std::lock_guard lock(mutex_);
  auto& orphans = adopter.orphans_;
  while (!orphans.empty()) {
    const auto next = orphans.begin();
    cold_read& orphan = **next;
    if (const auto leader = leader_for(orphan.where())) {
      orphan.sharing().leader = leader.get();
      if (orphan.before() == used_before::yes) leader->sharing().before = used_before::yes;
      leader->sharing().followers.splice(leader->sharing().followers.end(), orphans, next);
      continue;
    }
    try {
      publish(*next);
      published.splice(published.end(), orphans, next);
    } catch (const std::bad_alloc&) {
      orphan.end(ENOMEM);
      deliver(orphan);
      failed.splice(failed.end(), orphans, next);
    }
  }
  return published;
}

void shared_reads::end(cold_read& ended, int error) noexcept {
  cold_read_counts.count_end(ended.where().bytes, error, ended.asked_at());
  const bool was_tried = error != ECANCELED && (error != ETIME || ended.is_submitted());
  std::shared_ptr<cold_read> leader;
  read_list served;  // both are destroyed without the mutex
  const std::lock_guard lock(mutex_);
  leader = remove(ended);
  leader->end(error);
  deliver(*leader);
  auto& followers = leader->sharing().followers;
  while (!followers.empty()) {
    const auto next = followers.begin();
    cold_read& each = **next;
    read_mailbox& mailbox = each.mailbox();
    each.sharing().leader = nullptr;
    if (error == 0 || (was_tried && each.where().bytes == leader->where().bytes)) {
      each.sharing().before = leader->before();
      each.end(error, leader);
      deliver(each);
      served.splice(served.end(), followers, next);
    } else {
      mailbox.orphans_.splice(mailbox.orphans_.end(), followers, next);
    }
    mailbox.woken_.wake();
  }
}

/// Removes a read from the table, and returns it. Requires: the mutex.
std::shared_ptr<cold_read> shared_reads::remove(const cold_read& ended) noexcept {
  const auto [first, last] = table_.equal_range(ended.where().offset);
  const auto at =
      std::find_if(first, last, [&ended](const auto& each) { return each.second.get() == &ended; });
  ISO_ASSERT(at != last, "the table has a read until it has ended");
  std::shared_ptr<cold_read> removed = std::move(at->second);
  table_.erase(at);
  return removed;
}

/// Moves the tickets of a read that has just ended to its reader's mailbox. Requires: the mutex.
void shared_reads::deliver(cold_read& ended) noexcept {
  auto& tickets = ended.mailbox().tickets_;
  tickets.splice(tickets.end(), ended.sharing().tickets);
}

void shared_reads::cancel_all(const read_mailbox& reader) noexcept {
  while (const auto read = any_of(reader)) end(*read, ECANCELED);
}

/// Returns a read of the table that `reader` has made, or null.
std::shared_ptr<cold_read> shared_reads::any_of(const read_mailbox& reader) const noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find_if(
      table_, [&reader](const auto& each) { return &each.second->mailbox() == &reader; });
  return at == table_.end() ? nullptr : at->second;
}

std::vector<std::shared_ptr<cold_read>> shared_reads::reads_asked_by(
    const read_mailbox& reader, time_point asked_by) const noexcept {
  std::vector<std::shared_ptr<cold_read>> found;
  try {
    const std::lock_guard lock(mutex_);
    for (const auto& [offset, read] : table_) {
      if (&read->mailbox() == &reader && read->asked_at() <= asked_by) found.push_back(read);
    }
  } catch (const std::bad_alloc&) {
    // The caller finds the others with its next call.
  }
  return found;
}

void shared_reads::leave_busy_leaders(read_mailbox& reader, time_point checked_by) noexcept {
  bool has_left_some = false;
  std::erase_if(reader.following_, [&](const auto& each) {
    const std::shared_ptr<cold_read> follower = each.lock();
    if (follower == nullptr) return true;
    const std::lock_guard lock(mutex_);
    if (follower->has_ended()) return true;
    cold_read* const leader = follower->sharing().leader;
    if (leader == nullptr) return false;  // it is an orphan, or was one and leads now
    const time_point checked = std::max(leader->mailbox().checked_at(), leader->asked_at());
    if (checked > checked_by) return false;
    leader->sharing().may_be_followed = false;
    follower->sharing().leader = nullptr;
    auto& all = leader->sharing().followers;
    reader.orphans_.splice(reader.orphans_.end(), all, std::ranges::find(all, follower));
    has_left_some = true;
    return false;
  });
  if (has_left_some) reader.woken_.wake();
}

void shared_reads::drop_followers(read_mailbox& reader) noexcept {
  read_list dropped;  // destroyed without the mutex
  const std::lock_guard lock(mutex_);
  for (auto& [offset, read] : table_) {
    auto& all = read->sharing().followers;
    for (auto at = all.begin(); at != all.end();) {
      const auto each = at++;
      if (&(*each)->mailbox() == &reader) dropped.splice(dropped.end(), all, each);
    }
  }
  dropped.splice(dropped.end(), reader.orphans_);
  for (const auto& each : dropped) each->sharing().leader = nullptr;
}

void shared_reads::collect_tickets(read_mailbox& reader, std::list<std::uint64_t>& to) noexcept {
  const std::lock_guard lock(mutex_);
  to.splice(to.end(), reader.tickets_);
}

}  // namespace isotherm::heap
