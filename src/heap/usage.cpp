#include "heap/usage.hpp"

#include <algorithm>

#include "heap/local.hpp"
#include "heap/ranges.hpp"
#include "os/memory/process_memory.hpp"
#include "os/memory/residency.hpp"

namespace isotherm::heap {

namespace {
using base::kMember;
constexpr base::figure_of<usage> kUsage[] = {
    {{"objects", "objects", "objects in the heap"}, kMember<&usage::objects>},
    {{"bytes", "bytes", "bytes of its objects"}, kMember<&usage::bytes>},
    {{"extent_bytes", "bytes", "bytes of the extents that it holds"},
     kMember<&usage::extent_bytes>},
    {{"resident_bytes", "bytes", "of these, bytes in DRAM"}, kMember<&usage::resident_bytes>},
};
constexpr base::figure_of<footprint> kFootprint[] = {
    {{"rss_bytes", "bytes", "resident set"}, kMember<&footprint::rss>},
    {{"rss_peak_bytes", "bytes", "resident set at its highest"}, kMember<&footprint::rss_peak>},
    {{"dram_bytes", "bytes", "DRAM of the process; COLD's file takes no page cache"},
     kMember<&footprint::dram>},
};
}  // namespace

std::span<const base::figure_of<usage>> usage_table() noexcept { return kUsage; }
std::span<const base::figure_of<footprint>> footprint_table() noexcept { return kFootprint; }

range range_of(kind where) noexcept { return heaps().range_of(where); }

std::uintptr_t used_end(kind where) noexcept {
  heap_set& set = heaps();
  return holds_objects(where) ? set.packed(where).extents().used_end() : set.node.used_end();
}

usage usage_of(kind where, residency resident) {
  heap_set& set = heaps();
  const counted sum = sum_counters(where);
  const std::uint64_t held =
      holds_objects(where) ? set.packed(where).extents().held_bytes() : set.node.mapped_bytes();
  usage found{sum.objects, sum.bytes, held, 0};
  if (resident == residency::measured) {
    const std::uintptr_t begin = set.range_of(where).begin;
    found.resident_bytes =
        os::resident_bytes(reinterpret_cast<const void*>(begin), used_end(where) - begin)
            .value_or(held);  // where the system does not tell
  }
  return found;
}

std::vector<bool> used_mebibytes(kind where) {
  static_assert(kExtentBytes == std::size_t{1} << 20);
  const extent_table& extents = heaps().packed(where).extents();
  std::vector<bool> used(extents.used());
  for (std::size_t i = 0; i < used.size(); ++i) {
    // Relaxed: a picture of a moment. An object that comes or goes meanwhile may be seen or not.
    const std::size_t run = extents.row(i).run.load_relaxed();
    if (run == 0 && extents.row(i).load().live() == 0) continue;
    const std::size_t end = std::min(i + std::max<std::size_t>(run, 1), used.size());
    for (std::size_t at = i; at < end; ++at) used[at] = true;
  }
  return used;
}

std::uint64_t refused_allocations(kind where) noexcept {
  return heaps().refused[where].load_relaxed();
}

int cold_refusal_code() noexcept { return heaps().packed(kind::cold).extents().refusal_code(); }

void trim() noexcept {
  for (packed_heap& each : heaps().objects) each.flush_holes();
  flush_node_cache();
  heaps().node.purge();
}

os::resident_set dram_set() {
  os::resident_set found = os::read_resident_set();
  const extent_table& cold = heaps().packed(kind::cold).extents();
  if (!cold.pages().is_direct() || !cold.pages().is_in_resident_set()) return found;
  // The extents that are held are resident as a whole.
  const bool is_of_file = cold.pages().is_shared();
  const std::uint64_t anonymous = found.all_bytes - std::min(found.all_bytes, found.file_bytes);
  const std::uint64_t in_cold =
      std::min(cold.held_bytes(), is_of_file ? found.file_bytes : anonymous);
  found.all_bytes -= in_cold;
  if (is_of_file) found.file_bytes -= in_cold;
  return found;
}

footprint read_footprint(std::uint64_t cold_resident_bytes) {
  const os::process_memory memory = os::read_process_memory();
  const range cold = range_of(kind::cold);
  const std::uint64_t mapped = os::resident_in(cold.begin, cold.end);
  const std::uint64_t others = memory.rss_bytes > mapped ? memory.rss_bytes - mapped : 0;
  const std::uint64_t in_cold = cold_is_direct() ? 0 : cold_resident_bytes;
  return {memory.rss_bytes, memory.rss_peak_bytes, others + in_cold};
}

footprint read_footprint_without_heaps() {
  const os::process_memory memory = os::read_process_memory();
  return {memory.rss_bytes, memory.rss_peak_bytes, memory.rss_bytes};
}

}  // namespace isotherm::heap
