#include "arrays.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "os/limits/processors.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread_pool.hpp"
#include "sort/input/sort_entries.hpp"

namespace isotherm::python {
namespace {

template <class Bits>
void sort_by_all(number kind, std::span<const Bits> from, std::span<Bits> to,
                 std::span<std::uint64_t> room) {
  os::thread_pool pool;
  const unsigned threads = os::available_processors();
  const auto by_parts = [&](auto&& one) {
    pool.run(threads, [&](unsigned t) {
      const auto [begin, end] = os::part_of(from.size(), threads, t);
      for (std::size_t i = begin; i < end; ++i) one(i);
    });
  };
  by_parts([&](std::size_t i) { room[i] = ordered(kind, from[i]); });
  sort::sort_integers(room, pool, threads);
  by_parts([&](std::size_t i) { to[i] = restored(kind, static_cast<Bits>(room[i])); });
}

template <class Bits>
base::result<void> sort_as(number kind, std::span<const std::byte> from, std::span<std::byte> to) {
  const std::size_t n = from.size() / sizeof(Bits);
  const std::span in(reinterpret_cast<const Bits*>(from.data()), n);
  const std::span out(reinterpret_cast<Bits*>(to.data()), n);
  if constexpr (sizeof(Bits) == sizeof(std::uint64_t)) {
    sort_by_all<Bits>(kind, in, out, out);
  } else {
    auto memory = os::buffer::reserve(n * sizeof(std::uint64_t));
    if (!memory) return std::unexpected(memory.error());
    sort_by_all<Bits>(kind, in, out, memory->as<std::uint64_t>().first(n));
  }
  return {};
}

}  // namespace

base::result<void> sort_numbers(number kind, unsigned width, std::span<const std::byte> from,
                                std::span<std::byte> to) {
  switch (width) {
    case 1:
      return sort_as<std::uint8_t>(kind, from, to);
    case 2:
      return sort_as<std::uint16_t>(kind, from, to);
    case 4:
      return sort_as<std::uint32_t>(kind, from, to);
    default:
      return sort_as<std::uint64_t>(kind, from, to);
  }
}

base::result<void> take_records(std::span<const std::byte> from, std::size_t record_bytes,
                                std::span<const std::uint64_t> order, std::span<std::byte> to) {
  constexpr std::size_t kPrefetchAhead = 24;
  const std::uint64_t records = from.size() / record_bytes;
  const bool fits = std::ranges::all_of(order, [&](std::uint64_t i) { return i < records; });
  if (!fits || to.size() != order.size() * record_bytes) {
    return std::unexpected(base::error{"the order does not fit the records", 0});
  }
  const unsigned threads = os::available_processors();
  os::run_pool(threads, [&](unsigned t) {
    const auto [begin, end] = os::part_of(order.size(), threads, t);
    std::byte* target = to.data() + begin * record_bytes;
    for (std::size_t i = begin; i < end; ++i, target += record_bytes) {
      if (i + kPrefetchAhead < end) {
        __builtin_prefetch(&from[order[i + kPrefetchAhead] * record_bytes]);
      }
      std::memcpy(target, &from[order[i] * record_bytes], record_bytes);
    }
  });
  return {};
}

}  // namespace isotherm::python
