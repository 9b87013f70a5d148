#include "heap/readable.hpp"

#include "heap/header.hpp"
#include "heap/ranges.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/bus_error.hpp"

namespace isotherm::heap {
namespace {

base::atomic<std::uint64_t> lost_by_all{0};

/// Relaxed atomic: others may be writing there (write_in_place()), and the value is of no interest.
void touch(const std::byte* at) noexcept {
  static_cast<void>(__atomic_load_n(reinterpret_cast<const volatile char*>(at), __ATOMIC_RELAXED));
}

}  // namespace

std::optional<std::size_t> size_in_cold(const void* object) noexcept {
  // Volatile: written in a piece that may end early.
  volatile std::uint32_t bytes = 0, mark = 0;
  const bool came = os::survives([&] {
    bytes = header_of(object)->bytes;
    mark = header_of(object)->mark;
  });
  if (came && mark == kLiveMark) return bytes;
  count_lost_read();
  return std::nullopt;
}

bool is_readable_to_free(const void* object) noexcept {
  const heap_set& set = heaps();
  if (!set.catches_read_errors || !set.range_of(kind::cold).contains(object)) return true;
  const std::size_t page = os::page_bytes();
  const auto* const begin = static_cast<const std::byte*>(object);
  volatile std::uint32_t mark = 0;
  const bool came = os::survives([&] {
    const header found = *header_of(object);
    const std::byte* const end = begin + readable_bytes(found.bytes);
    mark = found.mark;
    if (found.mark != kLiveMark) return;
    for (const std::byte* at = begin; at < end; at += page) touch(at);
    touch(end - 1);
  });
  return came && mark == kLiveMark;
}

bool is_readable(const void* object) noexcept {
  if (is_readable_to_free(object)) return true;
  count_lost_read();
  return false;
}

void count_lost_read() noexcept { lost_by_all.fetch_add_relaxed(1); }

std::uint64_t lost_reads() noexcept { return lost_by_all.load_relaxed(); }

}  // namespace isotherm::heap
