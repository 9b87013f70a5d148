#include "heap/heap.hpp"

#include <bit>

#include "base/check.hpp"
#include "heap/header.hpp"
#include "heap/local.hpp"
#include "heap/poison.hpp"
#include "heap/ranges.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/residency.hpp"

namespace isotherm::heap {
namespace {

// jemalloc's blocks lie at 0 mod 16 and so must payloads: the header takes the second half of 16.
constexpr std::size_t kFreshPrefix = 16;
constexpr std::size_t kAlignment = 16;

constexpr std::size_t fresh_block_bytes(std::size_t bytes) noexcept {
  return kFreshPrefix + readable_bytes(bytes);
}

void* allocate_fresh(heap_set& set, std::size_t bytes, const local_state& mine) noexcept {
  void* block = set.fresh.allocate(fresh_block_bytes(bytes), kAlignment, mine.fresh_cache_flags);
  if (block == nullptr) return nullptr;
  void* object = static_cast<std::byte*>(block) + kFreshPrefix;
  *header_of(object) = {static_cast<std::uint32_t>(bytes), kLiveMark};
  return object;
}

void free_fresh(heap_set& set, void* object, std::size_t bytes, const local_state& mine) noexcept {
  header_of(object)->mark = kFreedMark;
  set.fresh.deallocate(static_cast<std::byte*>(object) - kFreshPrefix, fresh_block_bytes(bytes),
                       kAlignment, mine.fresh_cache_flags);
}

kind kind_of(const heap_set& set, const void* object) noexcept {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(object) - set.base;
  ISO_CHECK(offset < kKinds * set.range_bytes, "not an object of these heaps");
  if (offset < set.range_bytes) return kind::fresh;
  return offset < 2 * set.range_bytes ? kind::hot : kind::cold;
}

/// nullopt: in COLD, and its page cannot be read.
std::optional<std::size_t> size_of(const heap_set& set, kind where, const void* object) noexcept {
  if (!set.catches_read_errors || where != kind::cold) [[likely]]
    return checked_header(object).bytes;
  const auto found = header_on_disk(object);
  return found ? std::optional<std::size_t>(found->bytes) : std::nullopt;
}

std::size_t room_in(const heap_set& set, kind where, const void* object) noexcept {
  return where == kind::cold ? set.cold.room_of(object) : checked_header(object).bytes;
}

usage counted_usage(std::size_t heap, std::uint64_t extent_bytes, std::uintptr_t begin,
                    std::uintptr_t end, bool with_residency) {
  const counted sum = sum_counters(heap);
  usage found{sum.objects, sum.bytes, extent_bytes, 0};
  if (with_residency) {
    found.resident_bytes = os::resident_bytes(reinterpret_cast<const void*>(begin), end - begin)
                               .value_or(extent_bytes);  // where the system does not tell
  }
  return found;
}

}  // namespace

void* allocate(kind where, std::size_t bytes, room taken) noexcept {
  ISO_CHECK(bytes >> 32U == 0, "objects are smaller than 4 GiB");
  heap_set& set = heaps();
  local_state& mine = local();
  void* object = where == kind::fresh ? allocate_fresh(set, bytes, mine)
                                      : set.packed(where).allocate(bytes, taken, mine);
  if (object == nullptr) [[unlikely]] {
    set.refused[index_of(where)].fetch_add_relaxed(1);
    return nullptr;
  }
  mine.count(index_of(where), 1, where == kind::cold ? set.cold.room_of(object) : bytes);
  return object;
}

void deallocate(void* object, room left) noexcept {
  heap_set& set = heaps();
  local_state& mine = local();
  const kind where = kind_of(set, object);
  const std::size_t bytes = room_in(set, where, object);
  mine.count(index_of(where), ~std::uint64_t{0}, std::uint64_t{0} - bytes);
  if (where == kind::fresh) {
    free_fresh(set, object, bytes, mine);
    return;
  }
  // A COLD page is neither read nor dirtied for an object that goes.
  if (where == kind::hot) header_of(object)->mark = kFreedMark;
  set.packed(where).deallocate(object, bytes, left, mine);
}

std::size_t object_size(const void* object) noexcept {
  heap_set& set = heaps();
  return size_of(set, kind_of(set, object), object).value_or(0);
}

std::size_t room_of(const void* object) noexcept {
  const heap_set& set = heaps();
  return room_in(set, kind_of(set, object), object);
}

void* allocate_node(std::size_t bytes, std::size_t alignment) noexcept {
  ISO_CHECK(std::has_single_bit(alignment), "an alignment is a power of two");
  heap_set& set = heaps();
  local_state& mine = local();
  void* node = set.node.allocate(bytes == 0 ? 1 : bytes, alignment, mine.node_cache_flags);
  ISO_CHECK(node != nullptr, "memory for index nodes is exhausted");
  mine.count(kNodeHeap, 1, arena::usable_bytes(node));
  return node;
}

void* allocate_node_zeroed(std::size_t bytes) noexcept {
  heap_set& set = heaps();
  local_state& mine = local();
  void* node = set.node.allocate_zeroed(bytes == 0 ? 1 : bytes, mine.node_cache_flags);
  ISO_CHECK(node != nullptr, "memory for index nodes is exhausted");
  mine.count(kNodeHeap, 1, arena::usable_bytes(node));
  return node;
}

void deallocate_node(void* node) noexcept {
  heap_set& set = heaps();
  local_state& mine = local();
  const std::size_t bytes = arena::usable_bytes(node);
  mine.count(kNodeHeap, ~std::uint64_t{0}, std::uint64_t{0} - bytes);
  set.node.deallocate(node, bytes, 1, mine.node_cache_flags);
}

range range_of(kind where) noexcept { return heaps().range_at(index_of(where)); }
range node_range() noexcept { return heaps().range_at(kNodeHeap); }

std::uintptr_t used_end(kind where) noexcept {
  heap_set& set = heaps();
  return where == kind::fresh ? set.fresh.used_end() : set.packed(where).used_end();
}

std::uintptr_t node_used_end() noexcept { return heaps().node.used_end(); }

usage usage_of(kind where, bool with_residency) {
  heap_set& set = heaps();
  const std::uint64_t held =
      where == kind::fresh ? set.fresh.mapped_bytes() : set.packed(where).held_bytes();
  return counted_usage(index_of(where), held, range_of(where).begin, used_end(where),
                       with_residency);
}

usage node_usage(bool with_residency) {
  heap_set& set = heaps();
  return counted_usage(kNodeHeap, set.node.mapped_bytes(), node_range().begin, node_used_end(),
                       with_residency);
}

void note_cold_use(const void* object) noexcept { heaps().packed(kind::cold).note_use(object); }

bool is_sparse(const void* object, double live_share) noexcept {
  heap_set& set = heaps();
  const kind where = kind_of(set, object);
  return where != kind::fresh && set.packed(where).is_sparse(object, live_share);
}

packing packing_of(kind where) noexcept {
  heap_set& set = heaps();
  if (where != kind::fresh) return set.packed(where).packing_now();
  return {sum_counters(index_of(where)).bytes, set.fresh.mapped_bytes()};
}

reclaim_report reclaim_cold(hint how, std::uint64_t limit_bytes,
                            const std::function<bool()>& stop) {
  return heaps().cold.reclaim(how, limit_bytes, stop);
}

std::uint64_t refused_allocations(kind where) noexcept {
  return heaps().refused[index_of(where)].load_relaxed();
}

int cold_refusal_code() noexcept { return heaps().cold.refusal_code(); }

void trim() noexcept {
  heaps().hot.flush_holes();
  flush_caches();
  heaps().fresh.purge();
  heaps().node.purge();
}

void freeze_after_fork() noexcept { heaps().cold.freeze(); }

bool is_valid() { return heaps().hot.is_valid() && heaps().cold.is_valid(); }

}  // namespace isotherm::heap
