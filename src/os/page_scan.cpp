#include "os/page_scan.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "base/page.hpp"
#include "os/files/failure.hpp"

namespace isotherm::os {
namespace {

// struct page_region and struct pm_scan_arg of linux/fs.h, which Debian 12's headers lack.
struct kernel_region {
  std::uint64_t start, end, categories;
};
struct kernel_scan {
  std::uint64_t size, flags, start, end, walk_end, regions, regions_room, pages_most, inverted,
      all_of, any_of, returned;
};
constexpr unsigned long kScanCall = _IOWR('f', 16, kernel_scan);

constexpr std::uint64_t kPresentEntry = std::uint64_t{1} << 63;

void append(std::vector<page_run>& runs, const page_run& next) {
  if (!runs.empty() && runs.back().end == next.begin && runs.back().facts == next.facts) {
    runs.back().end = next.end;
  } else {
    runs.push_back(next);
  }
}

}  // namespace

base::result<std::vector<page_run>> scan_pages(const file& pagemap, std::uint64_t begin,
                                               std::uint64_t end, const page_choice& choice) {
  std::vector<page_run> runs;
  std::array<kernel_region, 512> found;
  kernel_scan scan{};
  scan.size = sizeof scan;
  scan.end = end;
  scan.regions = reinterpret_cast<std::uint64_t>(found.data());
  scan.regions_room = found.size();
  scan.inverted = choice.without;
  scan.all_of = choice.with | choice.without;
  scan.returned = choice.told;
  for (scan.start = begin; scan.start < end; scan.start = scan.walk_end) {
    const int count = ::ioctl(pagemap.descriptor(), kScanCall, &scan);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("cannot scan " + pagemap.path(), errno);
    for (const auto& r : std::span(found).first(static_cast<std::size_t>(count))) {
      append(runs, {.begin = r.start, .end = r.end, .facts = r.categories});
    }
  }
  return runs;
}

base::result<std::vector<page_run>> read_present_pages(const file& pagemap, std::uint64_t begin,
                                                       std::uint64_t end) {
  std::vector<page_run> runs;
  std::array<std::uint64_t, 4096> entries;
  for (std::uint64_t at = begin; at < end;) {
    const auto part = std::span(entries).first(
        std::min<std::uint64_t>(entries.size(), (end - at) / base::kPageBytes));
    const auto got = pagemap.read_some(std::as_writable_bytes(part),
                                       at / base::kPageBytes * sizeof(std::uint64_t));
    if (!got) return std::unexpected(got.error());
    if (*got == 0) break;  // the addresses of the kernel begin here
    for (const std::uint64_t entry : part.first(*got / sizeof(std::uint64_t))) {
      if ((entry & kPresentEntry) != 0) {
        append(runs, {.begin = at, .end = at + base::kPageBytes, .facts = kPagePresent});
      }
      at += base::kPageBytes;
    }
  }
  return runs;
}

}  // namespace isotherm::os
