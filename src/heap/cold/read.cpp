#include "heap/cold/read.hpp"

#include "base/check.hpp"
#include "heap/header.hpp"
#include "heap/ranges.hpp"

namespace isotherm::heap {

miss::miss(const void* object, used_before before) noexcept : object_(object), before_(before) {
  cold_extents& cold = heaps().cold();
  cold.pin_extent(object);
  where_ = cold.place_of(object);
  bytes_ = cold.room_of(object);
}

miss::~miss() {
  if (object_ != nullptr) heaps().cold().unpin_extent(object_);
}

const void* object_in(const std::byte* bytes, const base::page_span& where,
                      const void* object) noexcept {
  const std::byte* const begin = heaps().packed(kind::cold).extents().begin() + where.offset;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(object) - begin);
  ISO_ASSERT(offset < where.bytes, "an object lies in the pages that were read for it");
  const void* const copy = bytes + offset;
  const header found = *header_of(copy);
  const bool is_whole = offset + readable_bytes(found.bytes) <= where.bytes;
  return found.mark == kLiveMark && is_whole ? copy : nullptr;
}

const void* cold_read::copy_of(const void* object) const noexcept {
  if (!was_copied()) return nullptr;  // the memory of a failed read may hold an earlier copy
  return object_in(bytes_read(), where(), object);
}

}  // namespace isotherm::heap
