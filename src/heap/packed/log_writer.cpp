#include "heap/packed/log_writer.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "base/page.hpp"
#include "heap/poison.hpp"
#include "heap/ranges.hpp"
#include "sync/retire.hpp"

namespace isotherm::heap {
namespace {

/// Short enough for a string that asks for no memory.
constexpr const char* kNoMemory = "out of memory";

/// A disk that takes nothing may let each write wait: a call gives up after so many.
constexpr unsigned kMostFailures = 4;
/// Memory of extents that are written beside the moves of others.
constexpr std::uint64_t kUnderWayBytes = std::uint64_t{4} << 20;
constexpr unsigned kThreads = 2;

std::size_t extents_at(const extent_table& extents, std::size_t first) noexcept {
  return std::max<std::size_t>(extents.row(first).run.load_relaxed(), 1);
}

/// The bytes that hold objects, or may, in whole pages.
std::uint64_t used_bytes(const extent_table& extents, std::size_t first) noexcept {
  const extent& row = extents.row(first);
  const std::uint64_t end = row.run.load_relaxed() != 0
                                ? 2 * kHeaderBytes + readable_bytes(row.run_bytes.load_relaxed())
                                : kHeaderBytes + row.load().cursor() * kUnitBytes;
  return (end + base::kPageBytes - 1) / base::kPageBytes * base::kPageBytes;
}

}  // namespace

page_out_report log_writer::begin(std::uint64_t limit_bytes, const std::function<bool()>& stop) {
  page_out_report report;
  if (heap_.extents().pages().is_frozen()) {
    report.problem = "a fork child shares COLD with its parent: only the parent can page it out";
    return report;
  }
  failures_ = 0;
  try {
    write_all(limit_bytes, stop, report);
  } catch (const std::bad_alloc&) {
    report.problem = kNoMemory;
  }
  return report;
}

void log_writer::finish(const std::function<bool()>& stop, page_out_report& report) {
  if (heap_.extents().pages().is_frozen()) return;
  while (!under_way_.empty() && !stop()) wait_for_some(report);
}

/// Starts writes, the extents behind those of the last call first, so that some that always fail
/// keep no others waiting.
void log_writer::write_all(std::uint64_t limit_bytes, const std::function<bool()>& stop,
                           page_out_report& report) {
  const extent_table& extents = heap_.extents();
  std::vector<std::size_t> waiting = heap_.cold().in_memory();
  std::ranges::rotate(waiting, std::ranges::lower_bound(waiting, next_));
  std::uint64_t left = limit_bytes;
  for (const std::size_t first : waiting) {
    next_ = first;
    if (stop() || failures_ >= kMostFailures) return;
    // Or it was written since, while this call waited for some. Relaxed: this thread alone has set
    // it.
    if (is_under_way(first) || extents.row(first).written.load_relaxed()) continue;
    std::list<write> one(1);  // before it is pinned: there may be no memory
    if (!heap_.cold().pin_closed(first)) continue;
    const std::uint64_t bytes = extents_at(extents, first) * kExtentBytes;
    if (bytes > left) {
      heap_.cold().unpin(first);
      if (bytes <= limit_bytes) return;
      continue;  // it stays
    }
    left -= bytes;
    one.front().first = first;
    one.front().freed = bytes;
    if (!has_room(bytes, stop, report)) return heap_.cold().unpin(first);
    start(std::move(one), report);
  }
  next_ = 0;
}

bool log_writer::is_under_way(std::size_t first) const noexcept {
  return std::ranges::any_of(under_way_,
                             [first](const write& each) { return each.first == first; });
}

/// Waits while much is under way. Returns false when `stop` says so.
bool log_writer::has_room(std::uint64_t bytes, const std::function<bool()>& stop,
                          page_out_report& report) {
  while (bytes_under_way_ > 0 && bytes_under_way_ + bytes > kUnderWayBytes) {
    wait_for_some(report);
    if (stop()) return false;
  }
  return true;
}

/// Starts the write of a pinned extent, or run.
void log_writer::start(std::list<write> added, page_out_report& report) {
  const extent_table& extents = heap_.extents();
  write& one = added.front();
  one.offset = one.first * kExtentBytes;
  one.bytes = used_bytes(extents, one.first);
  unpoison(extents.address_of(one.first), one.bytes);  // gaps between objects are written, too
  if (!open_queue()) {
    perform(one);
    return end(one, report);
  }
  bytes_under_way_ += one.freed;
  under_way_.splice(under_way_.end(), added);
  queue_->start(one);
  queue_->submit();
}

/// Returns false where no descriptors or threads are left.
bool log_writer::open_queue() noexcept try {
  if (queue_ != nullptr) return true;
  auto opened =
      os::read_queue::of([this](os::queued_read& each) { perform(static_cast<write&>(each)); },
                         kThreads, "iso-cold-log");
  if (opened) queue_ = std::move(*opened);
  return queue_ != nullptr;
} catch (const std::bad_alloc&) {
  return false;
}

/// Puts an extent into the file. Threads: those of the queue.
void log_writer::perform(write& one) const noexcept {
  try {
    const auto done = heap_.extents().pages().write(one.offset, one.bytes);
    if (!done) one.problem = done.error().message;
  } catch (const std::bad_alloc&) {
    one.problem = kNoMemory;
  }
}

/// Ends the writes that are done, of which there may be none after a while.
void log_writer::wait_for_some(page_out_report& report) {
  constexpr int kLooksEveryMs = 100;
  queue_->wait(kLooksEveryMs);
  queue_->acknowledge();
  while (os::queued_read* const ended = queue_->take_ended()) {
    auto& one = static_cast<write&>(*ended);
    bytes_under_way_ -= one.freed;
    end(one, report);
    under_way_.remove_if([&one](const write& each) { return &each == &one; });
  }
}

void log_writer::end(write& one, page_out_report& report) {
  if (!one.problem.empty()) {
    ++failures_;
    report.problem = std::move(one.problem);
    return heap_.cold().unpin(one.first);
  }
  report.bytes_asked += one.freed;
  written_bytes_.fetch_add_relaxed(one.bytes);
  heap_.cold().note_written(one.first);
  sync::retire(heap_.extents().address_of(one.first), &end_memory, one.freed);
}

void log_writer::end_memory(void* begin) noexcept {
  packed_heap& heap = heaps().packed(kind::cold);
  const extent_table& extents = heap.extents();
  const std::size_t first = extents.index_of(begin);
  if (!extents.pages().is_frozen()) {
    extents.pages().end_memory(first * kExtentBytes, extents_at(extents, first) * kExtentBytes);
  }
  heap.cold().unpin(first);
}

}  // namespace isotherm::heap
