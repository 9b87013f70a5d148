#include "heap/arena.hpp"

#include <jemalloc/jemalloc.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <string>

#include "heap/poison.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::heap {

/// jemalloc hands each hook the table that it was given: the arena's, with the arena behind it.
struct hook_table {
  extent_hooks_t hooks;
  arena* owner;
};

namespace {

// jemalloc aligns the arena's own metadata to this, and objects' extents to less.
constexpr std::size_t kMetadataAlignment = std::size_t{2} << 20;
// Largest step by which the arena grows: carving far ahead only costs addresses, yet the end of
// what was carved bounds everyone's walks over the range.
constexpr std::size_t kGrowthBytesMax = std::size_t{16} << 20;
// How long a free page stays for reuse before it goes back to the system: the collector trims too.
constexpr ssize_t kDecayMs = 10'000;
constexpr std::size_t kLeastAlignment = 16;

void* hook_alloc(extent_hooks_t* table, void* at, size_t bytes, size_t alignment, bool* zero,
                 bool* commit, unsigned) {
  if (at != nullptr) return nullptr;  // an address of its choice, which jemalloc can do without
  void* carved = reinterpret_cast<hook_table*>(table)->owner->carve(bytes, alignment);
  if (carved == nullptr) return nullptr;
  if (alignment < kMetadataAlignment) poison(carved, bytes);
  *zero = true;  // carved once only, so that the system has just made its pages
  *commit = true;
  return carved;
}

bool hook_keep(extent_hooks_t*, void*, size_t, bool, unsigned) { return true; }

bool hook_purge(extent_hooks_t*, void* begin, size_t, size_t offset, size_t bytes, unsigned) {
  return !os::advise(static_cast<std::byte*>(begin) + offset, bytes, os::advice::discard);
}

bool hook_split(extent_hooks_t*, void*, size_t, size_t, size_t, bool, unsigned) { return false; }

bool hook_merge(extent_hooks_t*, void*, size_t, void*, size_t, bool, unsigned) { return false; }

int align_flag(std::size_t alignment) noexcept {
  return MALLOCX_LG_ALIGN(std::countr_zero(alignment));
}

template <class T>
int set_control(const std::string& name, T value) {
  return mallctl(name.c_str(), nullptr, nullptr, &value, sizeof value);
}

/// The value of a control, or none where this jemalloc has no such control.
template <class T>
T read_control(const std::string& name) {
  T value{};
  std::size_t bytes = sizeof value;
  return mallctl(name.c_str(), static_cast<void*>(&value), &bytes, nullptr, 0) == 0 ? value : T{};
}

}  // namespace

const int arena::kNoCache = MALLOCX_TCACHE_NONE;

base::result<void> arena::open(std::byte* begin, std::size_t bytes) {
  begin_ = begin;
  end_ = begin + bytes;
  // jemalloc keeps the table for good, and the arena lives as long: never freed.
  hooks_ = new hook_table{{.alloc = hook_alloc,
                           .dalloc = hook_keep,
                           .destroy = nullptr,
                           .commit = nullptr,
                           .decommit = nullptr,
                           .purge_lazy = nullptr,
                           .purge_forced = hook_purge,
                           .split = hook_split,
                           .merge = hook_merge},
                          this};
  extent_hooks_t* hooks = &hooks_->hooks;
  std::size_t index_bytes = sizeof index_;
  if (const int code = mallctl("arenas.create", &index_, &index_bytes, static_cast<void*>(&hooks),
                               sizeof(extent_hooks_t*));
      code != 0) {
    return std::unexpected(base::system_error("cannot make a jemalloc arena", code));
  }
  const std::string prefix = "arena." + std::to_string(index_);
  set_control(prefix + ".dirty_decay_ms", kDecayMs);
  set_control(prefix + ".muzzy_decay_ms", ssize_t{0});
  set_control(prefix + ".retain_grow_limit", kGrowthBytesMax);
  // jemalloc's own counter takes no refreshing of statistics to be read, but is found only once
  // they have been refreshed behind the making of the arena.
  set_control("epoch", std::uint64_t{1});
  active_pages_ =
      read_control<std::size_t*>("experimental.arenas." + std::to_string(index_) + ".pactivep");
  page_bytes_ = read_control<std::size_t>("arenas.page");
  return {};
}

void* arena::allocate(std::size_t bytes, std::size_t alignment, int cache_flags) noexcept {
  void* block = mallocx(bytes, MALLOCX_ARENA(index_) | align_flag(alignment) | cache_flags);
  if (block != nullptr) unpoison(block, bytes);
  return block;
}

void* arena::allocate_zeroed(std::size_t bytes, int cache_flags) noexcept {
#if defined(ISOTHERM_ASAN)
  // jemalloc's own filling would be taken for an access to poisoned memory.
  void* block = allocate(bytes, kLeastAlignment, cache_flags);
  return block == nullptr ? nullptr : std::memset(block, 0, bytes);
#else
  return mallocx(bytes,
                 MALLOCX_ARENA(index_) | align_flag(kLeastAlignment) | MALLOCX_ZERO | cache_flags);
#endif
}

void arena::deallocate(void* block, std::size_t bytes, int cache_flags) noexcept {
  poison(block, bytes);
  sdallocx(block, bytes, cache_flags);
}

std::size_t arena::usable_bytes(const void* block) noexcept { return sallocx(block, 0); }

std::size_t arena::rounded_bytes(std::size_t bytes, std::size_t alignment) noexcept {
  return nallocx(bytes, align_flag(alignment));
}

std::uintptr_t arena::used_end() const noexcept {
  return reinterpret_cast<std::uintptr_t>(begin_) + carved_.load_relaxed();
}

std::uint64_t arena::mapped_bytes() const noexcept {
  std::uint64_t epoch = 1;
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch);  // refreshes the statistics
  const std::string name = "stats.arenas." + std::to_string(index_) + ".mapped";
  std::size_t mapped = 0;
  std::size_t bytes = sizeof mapped;
  if (mallctl(name.c_str(), &mapped, &bytes, nullptr, 0) != 0) return carved_.load_relaxed();
  return mapped;
}

std::uint64_t arena::active_bytes() const noexcept {
  if (active_pages_ == nullptr) return 0;
  // Relaxed, as jemalloc writes it: a count that orders nothing.
  return std::atomic_ref(*active_pages_).load(std::memory_order_relaxed) * page_bytes_;
}

void arena::keep_free_pages() noexcept {
  set_control("arena." + std::to_string(index_) + ".dirty_decay_ms", ssize_t{-1});
}

void arena::purge() noexcept {
  const std::string name = "arena." + std::to_string(index_) + ".purge";
  mallctl(name.c_str(), nullptr, nullptr, nullptr, 0);
}

void* arena::carve(std::size_t bytes, std::size_t alignment) noexcept {
  const auto base = reinterpret_cast<std::uintptr_t>(begin_);
  const auto limit = static_cast<std::size_t>(end_ - begin_);
  std::size_t carved = carved_.load_relaxed();
  std::size_t offset = 0;
  do {
    offset = ((base + carved + alignment - 1) & ~(alignment - 1)) - base;
    if (offset > limit || bytes > limit - offset) return nullptr;
  } while (!carved_.compare_exchange_weak_relaxed(carved, offset + bytes));
  if (!os::commit(begin_ + offset, bytes)) return nullptr;  // the addresses are lost, not memory
  return begin_ + offset;
}

}  // namespace isotherm::heap
