#include "heap/packed/pager.hpp"

#include <algorithm>

#include "os/memory/address_space.hpp"
#include "os/memory/residency.hpp"

namespace isotherm::heap {

namespace {
/// Hinted extents, of 1 MiB each, that a call looks at again: about a millisecond.
constexpr std::size_t kLookedAtAgain = 16;
/// Pages of a few extents may all stay for a moment, while they are written or read: it is told
/// when so much was asked for in a row.
constexpr std::uint64_t kToldFrom = std::uint64_t{64} << 20;
}  // namespace

/// True: the disk has all of an extent. False: it has been written, and is not there.
base::result<bool> pager::write(std::size_t index) {
  const std::size_t offset = index * kExtentBytes;
  extent& row = extents().row(index);
  const bool is_unwritten = row.unwritten.load_relaxed();
  if (is_unwritten) {
    auto anew = extents().pages().write_anew(offset, kExtentBytes);
    if (!anew) return std::unexpected(anew.error());
  }
  if (auto clean = extents().pages().clean(offset, kExtentBytes); !clean) {
    const std::size_t used = extents().used();
    for (std::size_t i = 0; i < used; ++i) extents().row(i).unwritten.store_relaxed(true);
    return std::unexpected(clean.error());
  }
  if (is_unwritten && !extents().pages().is_written(offset, kExtentBytes)) return false;
  row.unwritten.store_relaxed(false);
  return true;
}

base::result<void> pager::let_go(const candidate& which, hint how) {
  const std::size_t bytes = which.count * kExtentBytes;
  if (how == hint::cold)
    return os::advise(extents().address_of(which.first), bytes, os::advice::cold);
  // From here on readers look in the file, where all is: nobody writes to a closed extent.
  heap_.cold().mark_out(which.first, which.count);
  return extents().pages().drop(which.first * kExtentBytes, bytes);
}

/// Pages that are not in DRAM have left, whoever has made them. Returns the bytes of the others.
std::uint64_t pager::look_at(std::size_t first, std::size_t count) {
  const auto is_there = os::resident_pages(extents().address_of(first), count * pages_out::kPages);
  if (!is_there) return 0;
  std::uint64_t bytes = 0;
  for (std::size_t page = 0; page < is_there->size(); ++page) {
    if ((*is_there)[page]) {
      bytes += base::kPageBytes;
    } else {
      heap_.cold().mark_page_out(first, page);
    }
  }
  return bytes;
}

std::uint64_t pager::resident(std::size_t first, std::size_t count) const {
  return os::resident_bytes(extents().address_of(first), count * kExtentBytes).value_or(0);
}

/// Goes round: starts where the last call stopped, so that refaults at low addresses do not keep
/// the rest waiting under a small limit.
std::vector<pager::candidate> pager::candidates(hint how, std::uint64_t limit_bytes) {
  std::vector<candidate> found;
  std::uint64_t bytes = 0;
  const std::size_t used = extents().used();
  std::size_t i = sweep_ < used ? sweep_ : 0;
  const std::size_t again_from = again_ < used ? again_ : 0;
  again_ = again_from + kLookedAtAgain;
  for (std::size_t visited = 0; visited < used && bytes < limit_bytes;) {
    const extent& row = extents().row(i);
    const extent_word seen = row.load();
    const std::size_t count = std::max<std::size_t>(row.run.load_relaxed(), 1);
    const std::size_t first = i;
    const bool may_leave = seen.closed() && seen.live() > 0;
    // MADV_COLD leaves pages where they are: coming back cannot be told from staying.
    const bool again = how != hint::cold && first >= again_from && first < again_;
    const bool is_looked_at = may_leave && (again || !row.hinted.load_relaxed());
    const std::uint64_t in_dram = is_looked_at ? look_at(first, count) : 0;
    if (in_dram <= limit_bytes && in_dram > limit_bytes - bytes) break;
    visited += count;
    i = first + count < used ? first + count : 0;
    if (in_dram == 0 || in_dram > limit_bytes) continue;
    bytes += in_dram;
    found.push_back({first, count, in_dram});
  }
  sweep_ = i;
  return found;
}

/// Nothing lives in an extent, or run, any more, or all of it has been written since.
bool pager::needs_no_disk(std::size_t first) const {
  const extent& head = extents().row(first);
  const std::size_t end = first + std::max<std::size_t>(head.run.load_relaxed(), 1);
  bool is_unwritten = false;
  for (std::size_t i = first; i < end; ++i)
    is_unwritten |= extents().row(i).unwritten.load_relaxed();
  return head.load().live() == 0 || !is_unwritten;
}

page_out_report pager::page_out(hint how, std::uint64_t limit_bytes,
                                const std::function<bool()>& stop) {
  page_out_report report;
  if (how == hint::none) return report;
  page_out(how, limit_bytes, stop, report);
  std::erase_if(not_on_disk_, [this](std::size_t first) { return needs_no_disk(first); });
  if (report.problem.empty() && !not_on_disk_.empty()) {
    report.problem = "cannot write back " + extents().pages().place() +
                     ": the disk does not hold what was written to it after a failure; what is "
                     "there stays in DRAM";
  }
  return report;
}

void pager::page_out(hint how, std::uint64_t limit_bytes, const std::function<bool()>& stop,
                     page_out_report& report) {
  if (extents().pages().is_frozen()) {
    report.problem = "a fork child shares COLD with its parent: only the parent can page it out";
    return;
  }
  report.problem = extents().pages().why_pages_stay();
  if (!report.problem.empty()) return;
  std::uint64_t left_over = 0;
  for (const candidate& each : candidates(how, limit_bytes)) {
    // An extent at a time: a thread that faults a page in waits behind what the device is writing.
    // All of a run is written before any of it leaves, as its object is read from one place.
    bool may_leave = true;
    for (std::size_t i = each.first; i < each.first + each.count; ++i) {
      if (stop()) {
        sweep_ = each.first;
        return;
      }
      const auto written = how == hint::pageout ? write(i) : true;
      if (!written) {
        report.problem = written.error().message;
        return;
      }
      may_leave = may_leave && *written;
    }
    if (!may_leave) {
      not_on_disk_.insert(each.first);
      extents().row(each.first).hinted.store_relaxed(true);
      continue;
    }
    if (auto gone = let_go(each, how); !gone) {
      report.problem = gone.error().message;
      return;
    }
    report.bytes_asked += each.resident_bytes;
    const std::uint64_t stayed = how == hint::pageout ? resident(each.first, each.count) : 0;
    left_over += stayed;
    extents().row(each.first).hinted.store_relaxed(stayed == 0);
  }
  if (how != hint::pageout || report.bytes_asked == 0) return;
  kept_bytes_ = left_over < report.bytes_asked ? 0 : kept_bytes_ + report.bytes_asked;
  if (kept_bytes_ >= kToldFrom) {
    report.problem =
        "the kernel kept every COLD page in DRAM: check free swap and the control group's limits";
  }
}

}  // namespace isotherm::heap
