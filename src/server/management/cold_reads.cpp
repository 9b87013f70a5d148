#include "server/management/cold_reads.hpp"

#include <algorithm>
#include <numeric>

namespace isotherm::server {
namespace {

using seen = heap::cold_read_statistics;

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
    {"cold_misses", "objects of COLD that a command needed and that were out of DRAM",
     [](const seen& s) noexcept { return s.misses; }},
    {"cold_reads", "reads of their pages", [](const seen& s) noexcept { return s.reads; }},
    {"cold_shared_reads", "misses for which a read was under way already",
     [](const seen& s) noexcept { return s.shared_reads; }},
    {"cold_failed_reads", "reads that the disk did not answer",
     [](const seen& s) noexcept { return s.failed_reads; }},
    {"cold_read_bytes", "bytes read", [](const seen& s) noexcept { return s.read_bytes; }},
    {"cold_requested_bytes", "of the objects that were missed",
     [](const seen& s) noexcept { return s.requested_bytes; }},
    {"cold_reads_under_way", "reads now", [](const seen& s) noexcept { return s.under_way; }},
    {"cold_read_p50_us", "half of the reads took at most so long, up to a power of two",
     [](const seen& s) noexcept { return wait_us(s, 50, 100); }},
    {"cold_read_p99_us", "99 of 100", [](const seen& s) noexcept { return wait_us(s, 99, 100); }},
    {"cold_read_p999_us", "999 of 1000",
     [](const seen& s) noexcept { return wait_us(s, 999, 1000); }},
};

}  // namespace

std::span<const cold_read_field> cold_read_table() noexcept { return kFields; }

}  // namespace isotherm::server
