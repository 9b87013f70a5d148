#include "heap/object.hpp"

#include <optional>

#include "base/check.hpp"
#include "heap/header.hpp"
#include "heap/local.hpp"
#include "heap/ranges.hpp"
#include "heap/readable.hpp"

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

/// nullopt: in COLD, and its page cannot be read.
std::optional<std::size_t> size_of(const heap_set& set, kind where, const void* object) noexcept {
  if (!set.catches_read_errors || where != kind::cold) [[likely]]
    return checked_header(object).bytes;
  return size_in_cold(object);
}

std::size_t room_in(const heap_set& set, kind where, const void* object) noexcept {
  return where == kind::cold ? set.cold.room_of(object) : checked_header(object).bytes;
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
  const kind where = set.kind_of(object);
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
  return size_of(set, set.kind_of(object), object).value_or(0);
}

std::size_t room_of(const void* object) noexcept {
  const heap_set& set = heaps();
  return room_in(set, set.kind_of(object), object);
}

}  // namespace isotherm::heap
