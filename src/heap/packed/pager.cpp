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

base::result<void> pager::let_go(const candidate& which, hint how) {
  const std::size_t bytes = which.count * kExtentBytes;
  if (how == hint::cold)
    return os::advise(extents().address_of(which.first), bytes, os::advice::cold);
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

page_out_report pager::page_out(hint how, std::uint64_t limit_bytes,
                                const std::function<bool()>& stop) {
  page_out_report report;
  page_out(how, limit_bytes, stop, report);
  return report;
}

void pager::page_out(hint how, std::uint64_t limit_bytes, const std::function<bool()>& stop,
                     page_out_report& report) {
  report.problem = extents().pages().why_pages_stay();
  if (!report.problem.empty()) return;
  std::uint64_t left_over = 0;
  for (const candidate& each : candidates(how, limit_bytes)) {
    if (stop()) {
      sweep_ = each.first;
      return;
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
