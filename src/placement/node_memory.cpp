#include "placement/node_memory.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "heap/arena.hpp"
#include "heap/poison.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/numa.hpp"
#include "sync/retire.hpp"

namespace isotherm::placement {

namespace detail {
constinit node_ranges ranges;
}  // namespace detail

namespace {

constexpr std::size_t kRangeBytes = std::size_t{256} << 30, kRangeBytesMin = std::size_t{64} << 20;
constexpr std::size_t kAlignment = std::size_t{2} << 20, kNodeAlignment = 16;

struct tier_memory {
  heap::arena nodes;
  base::apart<base::atomic<std::uint64_t>> used{};
  base::apart<base::atomic<std::uintptr_t>> end{};  // of the highest node that ever was

  void extend_to(std::uintptr_t address) noexcept {
    std::uintptr_t seen = end.value.load_relaxed();
    while (seen < address && !end.value.compare_exchange_weak_relaxed(seen, address)) {
    }
  }
};

std::array<tier_memory, 2>& tiers() {
  static auto* const made = new std::array<tier_memory, 2>;  // outlives every static destructor
  return *made;
}
tier_memory& memory_of(tier where) { return tiers()[static_cast<std::size_t>(where)]; }

tier_memory& memory_of(const void* node) {
  return memory_of(is_fast(node) ? tier::fast : tier::slow);
}

void free_memory(void* node) noexcept {
  memory_of(node).nodes.deallocate(node, bytes_of(node), heap::arena::kNoCache);
}

base::result<void> open_once(const memory_nodes& nodes) {
  std::size_t bytes = kRangeBytes;
  if (const std::optional<std::size_t> limit = os::address_space_limit()) {
    bytes = std::clamp(*limit / 8 / kAlignment * kAlignment, kRangeBytesMin, kRangeBytes);
  }
  auto begin = os::reserve(2 * bytes, kAlignment);
  for (; !begin && bytes / 2 >= kRangeBytesMin; begin = os::reserve(2 * bytes, kAlignment)) {
    bytes /= 2;
  }
  if (!begin) {
    return std::unexpected(base::error{
        "cannot reserve two address ranges of 64 MiB for placed nodes: raise the limit on address "
        "space (ulimit -v)",
        begin.error().code});
  }
  for (const tier where : {tier::fast, tier::slow}) {
    std::byte* const from = *begin + (where == tier::fast ? 0 : bytes);
    if (const auto& node = where == tier::fast ? nodes.fast : nodes.slow) {
      if (auto put = os::prefer_node(from, bytes, *node); !put) return put;
    }
    if (auto opened = memory_of(where).nodes.open(from, bytes); !opened) return opened;
  }
  heap::register_leak_roots(*begin, 2 * bytes);
  detail::ranges = {reinterpret_cast<std::uintptr_t>(*begin), bytes};
  return {};
}

}  // namespace

base::result<void> open_node_memory(const memory_nodes& nodes) {
  static std::mutex opening;
  const std::lock_guard guard(opening);
  return detail::ranges.bytes != 0 ? base::result<void>() : open_once(nodes);
}

void* allocate_node(tier where, std::size_t bytes) noexcept {
  tier_memory& memory = memory_of(where);
  void* const node =
      memory.nodes.allocate(std::max(bytes, std::size_t{1}), kNodeAlignment, heap::arena::kNoCache);
  ISO_CHECK(node != nullptr, "memory for placed nodes is exhausted");
  const std::size_t taken = bytes_of(node);
  memory.used.value.fetch_add_relaxed(taken);
  memory.extend_to(reinterpret_cast<std::uintptr_t>(node) + taken);
  return node;
}

void deallocate_node(void* node) noexcept {
  memory_of(node).used.value.fetch_sub_relaxed(bytes_of(node));
  free_memory(node);
}

void retire_node(void* node) noexcept {
  const std::size_t bytes = bytes_of(node);
  memory_of(node).used.value.fetch_sub_relaxed(bytes);
  sync::retire(node, &free_memory, bytes);
}

bool has_node_room() noexcept { return used_bytes(tier::slow) < capacity(); }

address_range used_range(tier where) noexcept {
  const std::uintptr_t begin =
      detail::ranges.begin + (where == tier::fast ? 0 : detail::ranges.bytes);
  return {begin, std::max(begin, memory_of(where).end.value.load_relaxed())};
}

std::size_t bytes_of(const void* node) noexcept { return heap::arena::usable_bytes(node); }

std::size_t bytes_taken_by(std::size_t bytes) noexcept {
  return heap::arena::rounded_bytes(std::max(bytes, std::size_t{1}), kNodeAlignment);
}

std::uint64_t used_bytes(tier where) noexcept { return memory_of(where).used.value.load_relaxed(); }

std::uint64_t used_page_bytes(tier where) noexcept {
  return std::max(memory_of(where).nodes.active_bytes(), used_bytes(where));
}

void keep_free_pages() noexcept {
  for (const tier where : {tier::fast, tier::slow}) memory_of(where).nodes.keep_free_pages();
}

}  // namespace isotherm::placement
