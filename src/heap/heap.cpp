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
constexpr std::size_t kNewbornPrefix = 16;
constexpr std::size_t kAlignment = 16;

constexpr std::size_t newborn_block_bytes(std::size_t bytes) noexcept {
  return kNewbornPrefix + readable_bytes(bytes);
}

void* allocate_newborn(heap_set& set, std::size_t bytes, const local_state& mine) noexcept {
  void* block =
      set.newborn.allocate(newborn_block_bytes(bytes), kAlignment, mine.newborn_cache_flags);
  if (block == nullptr) return nullptr;
  void* object = static_cast<std::byte*>(block) + kNewbornPrefix;
  *header_of(object) = {static_cast<std::uint32_t>(bytes), kLiveMark};
  return object;
}

void free_newborn(heap_set& set, void* object, std::size_t bytes,
                  const local_state& mine) noexcept {
  header_of(object)->mark = kFreedMark;
  set.newborn.deallocate(static_cast<std::byte*>(object) - kNewbornPrefix,
                         newborn_block_bytes(bytes), kAlignment, mine.newborn_cache_flags);
}

kind kind_of(const heap_set& set, const void* object) noexcept {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(object) - set.base;
  if (offset < set.range_bytes) return kind::newborn;
  if (offset < 2 * set.range_bytes) return kind::hot;
  ISO_CHECK(offset < 3 * set.range_bytes, "not an object of these heaps");
  return kind::cold;
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

/// Counts a node just allocated.
void* counted_node(void* node, local_state& mine) noexcept {
  ISO_CHECK(node != nullptr, "memory for index nodes is exhausted");
  mine.count(kind::node, 1, arena::usable_bytes(node));
  return node;
}

}  // namespace

void* allocate(kind where, std::size_t bytes, recycling room) noexcept {
  ISO_CHECK(bytes >> 32U == 0, "objects are smaller than 4 GiB");
  ISO_CHECK(holds_objects(where), "objects do not live among nodes");
  heap_set& set = heaps();
  local_state& mine = local();
  void* object = where == kind::newborn ? allocate_newborn(set, bytes, mine)
                                        : set.packed(where).allocate(bytes, room, mine);
  if (object == nullptr) [[unlikely]] {
    set.refused[where].fetch_add_relaxed(1);
    return nullptr;
  }
  mine.count(where, 1, where == kind::cold ? set.cold.room_of(object) : bytes);
  return object;
}

void deallocate(void* object, recycling room) noexcept {
  heap_set& set = heaps();
  local_state& mine = local();
  const kind where = kind_of(set, object);
  const std::size_t bytes = room_in(set, where, object);
  mine.count(where, ~std::uint64_t{0}, std::uint64_t{0} - bytes);
  if (where == kind::newborn) {
    free_newborn(set, object, bytes, mine);
    return;
  }
  // A COLD page is neither read nor dirtied for an object that goes.
  if (where == kind::hot) header_of(object)->mark = kFreedMark;
  set.packed(where).deallocate(object, bytes, room, mine);
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
  return counted_node(set.node.allocate(bytes == 0 ? 1 : bytes, alignment, mine.node_cache_flags),
                      mine);
}

void* allocate_node_zeroed(std::size_t bytes) noexcept {
  heap_set& set = heaps();
  local_state& mine = local();
  return counted_node(set.node.allocate_zeroed(bytes == 0 ? 1 : bytes, mine.node_cache_flags),
                      mine);
}

void deallocate_node(void* node) noexcept {
  heap_set& set = heaps();
  local_state& mine = local();
  const std::size_t bytes = arena::usable_bytes(node);
  mine.count(kind::node, ~std::uint64_t{0}, std::uint64_t{0} - bytes);
  set.node.deallocate(node, bytes, 1, mine.node_cache_flags);
}

range range_of(kind where) noexcept { return heaps().range_of(where); }

std::uintptr_t used_end(kind where) noexcept {
  heap_set& set = heaps();
  return is_packed(where) ? set.packed(where).used_end() : set.arena_of(where).used_end();
}

usage usage_of(kind where, residency resident) {
  heap_set& set = heaps();
  const counted sum = sum_counters(where);
  const std::uint64_t held =
      is_packed(where) ? set.packed(where).held_bytes() : set.arena_of(where).mapped_bytes();
  usage found{sum.objects, sum.bytes, held, 0};
  if (resident == residency::measured) {
    const std::uintptr_t begin = set.range_of(where).begin;
    found.resident_bytes =
        os::resident_bytes(reinterpret_cast<const void*>(begin), used_end(where) - begin)
            .value_or(held);  // where the system does not tell
  }
  return found;
}

void note_cold_use(const void* object) noexcept { heaps().packed(kind::cold).note_use(object); }

bool is_sparse(const void* object, double live_share) noexcept {
  heap_set& set = heaps();
  const kind where = kind_of(set, object);
  return is_packed(where) && set.packed(where).is_sparse(object, live_share);
}

packing packing_of(kind where) noexcept { return heaps().packed(where).packing_now(); }

reclaim_report reclaim_cold(hint how, std::uint64_t limit_bytes,
                            const std::function<bool()>& stop) {
  return heaps().cold.reclaim(how, limit_bytes, stop);
}

std::uint64_t refused_allocations(kind where) noexcept {
  return heaps().refused[where].load_relaxed();
}

int cold_refusal_code() noexcept { return heaps().cold.refusal_code(); }

void trim() noexcept {
  heaps().hot.flush_holes();
  flush_caches();
  heaps().newborn.purge();
  heaps().node.purge();
}

void freeze_after_fork() noexcept { heaps().cold.freeze(); }

bool is_valid() { return heaps().hot.is_valid() && heaps().cold.is_valid(); }

}  // namespace isotherm::heap
