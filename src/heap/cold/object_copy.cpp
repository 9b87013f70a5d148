#include "heap/cold/object_copy.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <span>

#include "heap/cold/statistics.hpp"
#include "heap/ranges.hpp"

namespace isotherm::heap {

namespace {

/// Returns 0, or an errno value.
int read_pages(std::byte* to, const base::page_span& where) noexcept {
  if (to == nullptr) return ENOMEM;
  try {
    const auto done =
        heaps().packed(kind::cold).extents().pages().read({to, where.bytes}, where.offset);
    return done ? 0 : done.error().code;
  } catch (const std::bad_alloc&) {  // for an error's text
    return EIO;
  }
}

}  // namespace

std::expected<object_copy, int> object_copy::read(const void* object) noexcept {
  const cold_extents& cold = heaps().cold();
  const base::page_span where = cold.place_of(object);
  const auto asked = std::chrono::steady_clock::now();
  count_waited_miss();
  cold_read_counts.requested_bytes.fetch_add_relaxed(cold.room_of(object));
  cold_read_counts.under_way.fetch_add_relaxed(1);
  page_memory memory(static_cast<std::byte*>(std::aligned_alloc(base::kPageBytes, where.bytes)));
  const int error = read_pages(memory.get(), where);
  cold_read_counts.count_end(where.bytes, error, asked);
  if (error != 0) return std::unexpected(error);
  const void* const copy = object_in(memory.get(), where, object);
  if (copy == nullptr) return std::unexpected(EIO);
  return object_copy(std::move(memory), where.bytes, copy);
}

}  // namespace isotherm::heap
