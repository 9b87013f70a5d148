#include "heap/cold/read_table.hpp"

#include <algorithm>
#include <numeric>

namespace isotherm::heap {
namespace {

using seen = cold_read_statistics;
using course = cold_read_field::course;

/// Microseconds within which that share of the reads ended: the end of its power of two.
std::uint64_t wait_us(const seen& s, std::uint64_t parts, std::uint64_t of) noexcept {
  const std::uint64_t all = std::accumulate(s.waits.begin(), s.waits.end(), std::uint64_t{0});
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < s.waits.size(); ++b) {
    sum += s.waits[b];
    if (all > 0 && sum * of >= all * parts) return std::uint64_t{2} << b;
  }
  return 0;
}

constexpr cold_read_field kFields[] = {
    {"cold_misses", "objects",
     "objects of COLD that were needed and that were out of DRAM, since the start", course::total,
     [](const seen& s) noexcept { return s.misses; }},
    {"cold_reads", "reads", "reads of their pages", course::total,
     [](const seen& s) noexcept { return s.reads; }},
    {"cold_shared_reads", "objects", "misses for which a read was under way already", course::total,
     [](const seen& s) noexcept { return s.shared_reads; }},
    {"cold_failed_reads", "reads",
     "reads that failed, or that were given up as the disk did not answer", course::total,
     [](const seen& s) noexcept { return s.failed_reads; }},
    {"cold_read_bytes", "bytes", "bytes read for misses", course::total,
     [](const seen& s) noexcept { return s.read_bytes; }},
    {"cold_requested_bytes", "bytes", "bytes of the objects that were missed", course::total,
     [](const seen& s) noexcept { return s.requested_bytes; }},
    {"cold_reads_under_way", "reads", "reads for misses that are under way now", course::now,
     [](const seen& s) noexcept { return s.under_way; }},
    {"cold_reads_unanswered", "reads",
     "reads that were given up and that the disk has not answered until now", course::now,
     [](const seen& s) noexcept { return s.unanswered; }},
    {"cold_read_p50_us", "microseconds",
     "half of the reads for misses since the start took at most so long, up to a power of two",
     course::now, [](const seen& s) noexcept { return wait_us(s, 50, 100); }},
    {"cold_read_p99_us", "microseconds", "99 of 100 of these reads took at most so long",
     course::now, [](const seen& s) noexcept { return wait_us(s, 99, 100); }},
    {"cold_read_p999_us", "microseconds", "999 of 1000 of these reads took at most so long",
     course::now, [](const seen& s) noexcept { return wait_us(s, 999, 1000); }},
};

}  // namespace

std::span<const cold_read_field> cold_read_table() noexcept { return kFields; }

}  // namespace isotherm::heap
