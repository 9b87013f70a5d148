#include "heap/upkeep.hpp"

#include <algorithm>
#include <functional>

#include "heap/brake.hpp"
#include "heap/ranges.hpp"
#include "os/clock.hpp"

namespace isotherm::heap {

void note_cold_use(const void* object) noexcept { heaps().cold().note_use(object); }

bool is_sparse(const void* object, double live_share) noexcept {
  heap_set& set = heaps();
  return set.packed(set.kind_of(object)).is_sparse(object, live_share);
}

bool is_closed(const void* object) noexcept {
  heap_set& set = heaps();
  return set.packed(set.kind_of(object)).is_closed(object);
}

band band_of(const void* object) noexcept { return heaps().packed(kind::hot).band_of(object); }

std::size_t used_extents(kind where) noexcept { return heaps().packed(where).extents().used(); }

std::size_t extent_of(kind where, const void* object) noexcept {
  return heaps().packed(where).extents().index_of(object);
}

bool is_closed_and_used(kind where, std::size_t extent) noexcept {
  const packed_heap& heap = heaps().packed(where);
  const extent_table& extents = heap.extents();
  return extents.row(extent).load().live() > 0 && heap.is_closed(extents.address_of(extent));
}

std::uint64_t release_dead_pages(kind where) noexcept {
  return heaps().packed(where).release_dead_pages();
}

void treat_emptied_cold(emptied how) noexcept { heaps().cold().treat_emptied(how); }

std::uint64_t give_back_emptied_cold() noexcept { return heaps().cold().give_back_emptied(); }

bool sparse_extents::contains(const void* object) const noexcept {
  const std::size_t index = extent_of(where_, object);
  return index < chosen_.size() && chosen_[index];
}

std::vector<sparse_extents> sparsest_of(kind where, const emptying& which) {
  const packed_heap& heap = heaps().packed(where);
  struct candidate {
    double share;
    std::uint64_t live, dead;
    std::size_t index;
  };
  const std::size_t used = heap.extents().used();
  std::vector<candidate> sparse;
  for (std::size_t i = 0; i < used; ++i) {
    const std::byte* const begin = heap.extents().address_of(i);
    const extent_word seen = heap.extents().row(i).load();
    if (reinterpret_cast<std::uintptr_t>(begin) >= which.end) break;
    if (seen.live() == 0 || !heap.is_closed(begin)) continue;
    const std::size_t filled = std::max(heap.extents().row(i).filled(seen), seen.live());
    const double share = static_cast<double>(seen.live()) / static_cast<double>(filled);
    if (share >= which.live_share) continue;
    sparse.push_back({share, seen.live() * kUnitBytes, (filled - seen.live()) * kUnitBytes, i});
  }
  std::ranges::sort(sparse, {}, &candidate::share);
  std::uint64_t live_left = which.live_bytes, dead_left = which.dead_bytes, together_left = 0;
  std::vector<sparse_extents> groups;
  for (const candidate& each : sparse) {
    if (each.live > live_left || dead_left == 0) break;
    live_left -= each.live;
    dead_left -= std::min(dead_left, each.dead);
    if (groups.empty() || each.live > together_left) {
      groups.emplace_back(where, used);
      together_left = which.together_bytes;
    }
    together_left -= std::min(together_left, each.live);
    groups.back().choose(each.index);
  }
  return groups;
}

std::vector<aged_extent> by_birth(kind where) {
  const packed_heap& heap = heaps().packed(where);
  const extent_table& extents = heap.extents();
  std::vector<aged_extent> found;
  for (std::size_t i = 0; i < extents.used(); ++i) {
    const extent_word seen = extents.row(i).load();
    if (seen.live() == 0 || !seen.closed()) continue;
    found.push_back({i, extents.row(i).birth.load_relaxed(), heap.packing_of(i).live_bytes});
  }
  const std::uint32_t now = extents.births();
  std::ranges::sort(found, std::greater(),
                    [now](const aged_extent& each) { return now - each.birth; });
  return found;
}

void begin_emptying(kind where, std::size_t number) noexcept {
  heaps().packed(where).begin_emptying(number);
}

std::uint32_t birth_of(kind where, const void* object) noexcept {
  return heaps().packed(where).extents().row(extent_of(where, object)).birth.load_relaxed();
}

std::vector<std::uintptr_t> cut_evenly(kind where, std::uint64_t count) {
  const packed_heap& heap = heaps().packed(where);
  const std::uint64_t part_bytes = packing_of(where).used_bytes / count + 1;
  std::vector<std::uintptr_t> ends;
  std::uint64_t in_part = 0;
  for (std::size_t i = 0; i < heap.extents().used() && ends.size() + 1 < count; ++i) {
    in_part += heap.packing_of(i).used_bytes;
    if (in_part < part_bytes) continue;
    in_part -= part_bytes;
    ends.push_back(reinterpret_cast<std::uintptr_t>(heap.extents().address_of(i + 1)));
  }
  return ends;
}

packing packing_of(kind where) noexcept { return heaps().packed(where).packing_now(); }

void allow_growth(std::uint64_t bytes) noexcept {
  loading_brake.allow(bytes == kUnlimitedGrowth ? brake::kUnlimited
                                                : static_cast<std::int64_t>(bytes / kExtentBytes));
}

void ask_before_waiting(bool (*may_wait_here)() noexcept) noexcept {
  loading_brake.ask(may_wait_here);
}

void tell_of_waits(void (*tell)() noexcept) noexcept { loading_brake.tell_of_waits(tell); }

void wait_for_room() noexcept { loading_brake.pay(); }

void room_wait::begin() noexcept {
  if (loading_brake.take_debt() && !is_on()) began_ns_ = os::monotonic_ns();
}

void room_wait::update() noexcept {
  begin();
  if (!is_on()) return;
  const std::uint64_t waited_ns = os::monotonic_ns() - began_ns_;
  if (!loading_brake.has_room() && waited_ns < brake::kLongestNs) return loading_brake.tell();
  loading_brake.count(waited_ns);
  began_ns_ = 0;
}

std::uint64_t slowed_allocations() noexcept { return loading_brake.waits(); }

std::uint64_t slowed_allocation_us() noexcept { return loading_brake.waited_us(); }

page_out_report page_out_cold(hint how, std::uint64_t limit_bytes,
                              const std::function<bool()>& stop) {
  page_out_report report = begin_page_out(how, limit_bytes, stop);
  heaps().cold_writer.finish([] { return false; }, report);
  return report;
}

page_out_report begin_page_out(hint how, std::uint64_t limit_bytes,
                               const std::function<bool()>& stop) {
  if (how == hint::none) return {};
  heap_set& set = heaps();
  const backing& pages = set.packed(kind::cold).extents().pages();
  if (pages.is_logged()) return set.cold_writer.begin(limit_bytes, stop);
  if (pages.is_direct()) return {};
  return set.cold_pager.page_out(how, limit_bytes, stop);
}

page_out_report finish_page_out(const std::function<bool()>& stop) {
  page_out_report report;
  heaps().cold_writer.finish(stop, report);
  return report;
}

}  // namespace isotherm::heap
