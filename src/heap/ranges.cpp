#include "heap/ranges.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "heap/memory_name.hpp"
#include "heap/poison.hpp"
#include "os/fork.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/numa.hpp"
#include "os/memory/residency.hpp"

namespace isotherm::heap {
namespace {

constexpr std::size_t kRangeAlignment = std::size_t{2} << 20;  // a huge page
constexpr std::size_t kRangeBytesMin = std::size_t{64} << 20;

struct reserved {
  std::byte* begin;
  std::size_t range_bytes;
};

/// A share of RLIMIT_AS that leaves half of it to the rest of the process.
std::size_t limited(std::size_t range_bytes) {
  const std::optional<std::size_t> limit = os::address_space_limit();
  return limit ? std::min(range_bytes, *limit / 2 / kKinds.size()) : range_bytes;
}

base::result<reserved> reserve_ranges(std::size_t wanted) {
  std::size_t bytes = std::max(limited(wanted), std::min(wanted, kRangeBytesMin));
  for (;;) {
    bytes = std::max(bytes / kRangeAlignment, std::size_t{1}) * kRangeAlignment;
    const auto begin = os::reserve(kKinds.size() * bytes, kRangeAlignment);
    if (begin) return reserved{*begin, bytes};
    if (bytes / 2 < kRangeBytesMin) {
      return std::unexpected(base::error{
          "cannot reserve four address ranges of 64 MiB for the heaps: raise the limit on address "
          "space (ulimit -v)",
          begin.error().code});
    }
    bytes /= 2;
  }
}

base::result<void> open_all(heap_set& set, const reserved& space, std::unique_ptr<backing> cold,
                            const options& chosen) {
  set.base = reinterpret_cast<std::uintptr_t>(space.begin);
  set.range_bytes = space.range_bytes;
  const std::size_t bytes = space.range_bytes;
  const auto begin_of = [&](kind where) {
    return space.begin + static_cast<std::size_t>(where) * bytes;
  };
  for (const kind where : kKinds) name_memory(where, begin_of(where), bytes);
  using freed_room = packed_heap::freed_room;
  for (const kind where : {kind::newborn, kind::hot}) {
    auto made = set.packed(where).open(begin_of(where), bytes, make_anonymous_backing(),
                                       freed_room::recycled);
    if (!made) return made;
  }
  packed_heap& in_cold = set.packed(kind::cold);
  auto made = in_cold.open(begin_of(kind::cold), bytes, std::move(cold), freed_room::left);
  if (!made) return made;
  made = os::advise(begin_of(kind::cold), bytes, os::advice::left_out_of_dumps);
  if (!made) return made;
  // Without an answer no page of a mapped COLD would ever be asked to leave; of a direct one none
  // is asked.
  const auto asked = os::resident_bytes(begin_of(kind::cold), os::page_bytes());
  const backing& pages = in_cold.extents().pages();
  if (!asked && !pages.is_logged() && !pages.is_direct()) {
    return std::unexpected(
        base::error{"this process may not ask which pages are in DRAM: allow it mincore (seccomp)",
                    asked.error().code});
  }
  if (made = set.node.open(begin_of(kind::node), bytes); !made) return made;
  if (chosen.hot_node) {
    for (const kind where : {kind::newborn, kind::hot, kind::node}) {
      if (made = os::prefer_node(begin_of(where), bytes, *chosen.hot_node); !made) return made;
    }
  }
  if (!chosen.huge_pages) return {};
  for (const kind where : {kind::hot, kind::node}) {
    auto huge = os::advise(begin_of(where), bytes, os::advice::huge);
    if (!huge) {
      return std::unexpected(base::error{
          "this kernel has no transparent huge pages: leave huge pages off", huge.error().code});
    }
  }
  return {};
}

/// Not a COLD in a file: the leak checker reads whole ranges, and most of it cannot be read.
void register_roots(heap_set& set) {
  for (const kind where : kKinds) {
    if (where == kind::cold && set.packed(where).extents().pages().is_shared()) continue;
    register_leak_roots(reinterpret_cast<const void*>(set.range_of(where).begin), set.range_bytes);
  }
}

std::mutex making;

base::result<void> make_locked(const options& chosen) {
  const cold_backing place =
      chosen.cold ? *chosen.cold : find_cold_place(cold_directories()).backing;
  auto cold = place.make();  // first: the failure that users meet
  if (!cold) return std::unexpected(cold.error());
  if (chosen.hot_node) {
    if (auto usable = os::check_node(*chosen.hot_node); !usable) {
      return std::unexpected(usable.error());
    }
  }
  auto space = reserve_ranges(chosen.range_bytes);
  if (!space) return std::unexpected(space.error());
  // Never freed: objects and threads outlive every static destructor.
  auto* set = new heap_set;
  set->cold_reads = chosen.cold_reads;
  if (auto opened = open_all(*set, *space, std::move(*cold), chosen); !opened) return opened;
  register_roots(*set);
  configured_heaps.store_release(set);
  os::at_fork(
      [] {
        for (packed_heap& each : heaps().objects) each.lock_for_fork();
      },
      [] {
        for (packed_heap& each : heaps().objects) each.unlock_after_fork();
      },
      [] {
        for (packed_heap& each : heaps().objects) each.unlock_after_fork();
        heaps().is_fork_childs = true;
        // The COLD file is the parent's, which goes on changing it.
        heaps().packed(kind::cold).freeze();
      });
  return {};
}

}  // namespace

base::atomic<heap_set*> configured_heaps{nullptr};

base::result<void> make_heaps(const options& chosen) {
  const std::lock_guard lock(making);
  if (configured_heaps.load_relaxed() != nullptr) {
    return std::unexpected(base::error{
        "the heaps are in use already: configure them before the first object is made", 0});
  }
  return make_locked(chosen);
}

heap_set& make_default_heaps() noexcept {
  const std::lock_guard lock(making);
  if (configured_heaps.load_relaxed() == nullptr) {
    if (auto made = make_locked(options{}); !made) {
      std::fprintf(stderr, "isotherm: %s\n", made.error().message.c_str());
      std::abort();
    }
  }
  return *configured_heaps.load_relaxed();
}

bool is_valid() {
  return std::ranges::all_of(heaps().objects, [](const auto& each) { return each.is_valid(); });
}

}  // namespace isotherm::heap
