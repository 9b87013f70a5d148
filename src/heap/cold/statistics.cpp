#include "heap/cold/statistics.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <numeric>

#include "heap/ranges.hpp"

namespace isotherm::heap {
namespace {

using seen = cold_read_statistics;
using base::kMember;
using enum base::figure::course;

/// Returns the microseconds within which `parts` of `of` reads ended, rounded up to a power of two.
std::uint64_t wait_us(const seen& s, std::uint64_t parts, std::uint64_t of) noexcept {
  const std::uint64_t all = std::accumulate(s.waits.begin(), s.waits.end(), std::uint64_t{0});
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < s.waits.size(); ++b) {
    sum += s.waits[b];
    if (all > 0 && sum * of >= all * parts) return std::uint64_t{2} << b;
  }
  return 0;
}

constexpr base::figure_of<seen> kTable[] = {
    {{"cold_misses", "objects",
      "objects of COLD that were needed and that were out of DRAM, since the start", counter},
     kMember<&seen::misses>},
    {{"cold_reads", "reads", "reads of their pages", counter}, kMember<&seen::reads>},
    {{"cold_shared_reads", "objects", "misses for which a read was under way already", counter},
     kMember<&seen::shared_reads>},
    {{"cold_failed_reads", "reads",
      "reads that failed, or that were given up as the disk did not answer", counter},
     kMember<&seen::failed_reads>},
    {{"cold_read_bytes", "bytes", "bytes read for misses", counter}, kMember<&seen::read_bytes>},
    {{"cold_requested_bytes", "bytes", "bytes of the objects that were missed", counter},
     kMember<&seen::requested_bytes>},
    {{"cold_reads_under_way", "reads", "reads for misses that are under way now"},
     kMember<&seen::under_way>},
    {{"cold_reads_unanswered", "reads",
      "reads that were given up and that the disk has not answered until now"},
     kMember<&seen::unanswered>},
    {{"cold_read_p50_us", "microseconds",
      "half of the reads for misses since the start took at most so long, up to a power of two"},
     [](const seen& s) { return wait_us(s, 50, 100); }},
    {{"cold_read_p99_us", "microseconds", "99 of 100 of these reads took at most so long"},
     [](const seen& s) { return wait_us(s, 99, 100); }},
    {{"cold_read_p999_us", "microseconds", "999 of 1000 of these reads took at most so long"},
     [](const seen& s) { return wait_us(s, 999, 1000); }},
};

using sizes = cold_file_statistics;
constexpr base::figure_of<sizes> kFileTable[] = {
    {{"cold_written_bytes", "bytes", "bytes written to COLD's file since the start", counter},
     kMember<&sizes::written_bytes>},
    {{"cold_file_bytes", "bytes",
      "bytes of COLD's file that are in use, with what is dead in them"},
     kMember<&sizes::file_bytes>},
    {{"cold_memory_bytes", "bytes",
      "bytes of COLD that are not written to its file yet, and are in DRAM"},
     kMember<&sizes::memory_bytes>},
};

thread_local constinit std::uint64_t waited_misses = 0;

}  // namespace

cold_read_statistics cold_reads() noexcept {
  const cold_read_counters& now = cold_read_counts;
  cold_read_statistics seen{.misses = now.misses.load_relaxed(),
                            .reads = now.reads.load_relaxed(),
                            .shared_reads = now.shared_reads.load_relaxed(),
                            .failed_reads = now.failed_reads.load_relaxed(),
                            .read_bytes = now.read_bytes.load_relaxed(),
                            .requested_bytes = now.requested_bytes.load_relaxed(),
                            .under_way = now.under_way.load_relaxed(),
                            .unanswered = now.unanswered.load_relaxed(),
                            .wait_us = now.wait_us.load_relaxed()};
  for (std::size_t i = 0; i < seen.waits.size(); ++i) seen.waits[i] = now.waits[i].load_relaxed();
  return seen;
}

constinit cold_read_counters cold_read_counts;

void cold_read_counters::count_end(std::size_t bytes, int error,
                                   std::chrono::steady_clock::time_point asked) noexcept {
  under_way.fetch_sub_relaxed(1);
  if (error == ECANCELED) return;
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - asked);
  const auto waited = static_cast<std::uint64_t>(std::max<std::int64_t>(us.count(), 1));
  const auto bits = static_cast<std::size_t>(std::bit_width(waited));
  waits[std::min(bits, waits.size()) - 1].fetch_add_relaxed(1);
  wait_us.fetch_add_relaxed(waited);
  reads.fetch_add_relaxed(1);
  read_bytes.fetch_add_relaxed(bytes);
  if (error != 0) failed_reads.fetch_add_relaxed(1);
}

void count_waited_miss() noexcept {
  cold_read_counts.misses.fetch_add_relaxed(1);
  ++waited_misses;
}

std::uint64_t thread_waited_misses() noexcept { return waited_misses; }

void count_lost_read() noexcept { cold_read_counts.lost.fetch_add_relaxed(1); }

std::uint64_t lost_reads() noexcept { return cold_read_counts.lost.load_relaxed(); }

std::span<const base::figure_of<cold_read_statistics>> cold_statistic_table() noexcept {
  return kTable;
}

cold_file_statistics cold_file() noexcept {
  const heap_set& set = heaps();
  const extent_table& extents = set.packed(kind::cold).extents();
  if (!extents.is_logged()) return {};
  const std::uint64_t in_memory = set.cold().memory_bytes(), held = extents.held_bytes();
  return {.written_bytes = set.cold_writer.written_bytes(),
          .file_bytes = held - std::min(held, in_memory),  // taken at two moments
          .memory_bytes = in_memory};
}

std::span<const base::figure_of<cold_file_statistics>> cold_file_table() noexcept {
  return kFileTable;
}

}  // namespace isotherm::heap
