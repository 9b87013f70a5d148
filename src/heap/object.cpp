#include "heap/object.hpp"

#include "base/check.hpp"
#include "heap/header.hpp"
#include "heap/local.hpp"
#include "heap/ranges.hpp"

namespace isotherm::heap {
namespace {

std::size_t room_in(const heap_set& set, kind where, const void* object) noexcept {
  return where == kind::cold ? set.cold().room_of(object) : checked_header(object).bytes;
}

}  // namespace

void* allocate(place to, std::size_t bytes, recycling room) noexcept {
  const kind where = to.where;
  ISO_CHECK(bytes >> 32U == 0, "objects are smaller than 4 GiB");
  ISO_CHECK(holds_objects(where), "objects do not live among nodes");
  heap_set& set = heaps();
  local_state& mine = local();
  void* object = set.packed(where).allocate(bytes, room, to.among, mine);
  if (object == nullptr) [[unlikely]] {
    set.refused[where].fetch_add_relaxed(1);
    return nullptr;
  }
  mine.count(where, 1, where == kind::cold ? set.cold().room_of(object) : bytes);
  return object;
}

void deallocate(void* object, recycling room) noexcept {
  heap_set& set = heaps();
  local_state& mine = local();
  const kind where = set.kind_of(object);
  const std::size_t bytes = room_in(set, where, object);
  mine.count(where, ~std::uint64_t{0}, std::uint64_t{0} - bytes);
  // A COLD page is neither read nor dirtied for an object that goes.
  if (where != kind::cold) write_header(object, {kFreedMark, static_cast<std::uint32_t>(bytes)});
  set.packed(where).deallocate(object, bytes, room, mine);
}

std::size_t object_size(const void* object) noexcept { return checked_header(object).bytes; }

void fetch_size(const void* object) noexcept { __builtin_prefetch(header_of(object)); }

std::size_t room_of(const void* object) noexcept {
  const heap_set& set = heaps();
  return room_in(set, set.kind_of(object), object);
}

}  // namespace isotherm::heap
