#include "heap/allocator.hpp"

#include <jemalloc/jemalloc.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace isotherm::heap {
namespace {

/// Returns the name of a control of all arenas together. Safe before main().
std::string of_all_arenas(const char* before, const char* behind) {
  return before + std::to_string(MALLCTL_ARENAS_ALL) + behind;
}

template <class T>
T read_control(const char* name) noexcept {
  T value{};
  std::size_t bytes = sizeof value;
  return mallctl(name, &value, &bytes, nullptr, 0) == 0 ? value : T{};
}

template <class T>
bool write_control(const char* name, T value) noexcept {
  return mallctl(name, nullptr, nullptr, &value, sizeof value) == 0;
}

void refresh_statistics() noexcept { write_control("epoch", std::uint64_t{1}); }

}  // namespace

std::uint64_t allocator_free_bytes() noexcept {
  static const std::string dirty = of_all_arenas("stats.arenas.", ".pdirty");
  static const std::size_t page = read_control<std::size_t>("arenas.page");
  refresh_statistics();
  return page * read_control<std::size_t>(dirty.c_str());
}

std::uint64_t allocator_overhead_bytes() noexcept {
  refresh_statistics();
  const auto resident = read_control<std::size_t>("stats.resident");
  return resident - std::min(resident, read_control<std::size_t>("stats.allocated"));
}

void purge_allocator() noexcept {
  static const std::string purge = of_all_arenas("arena.", ".purge");
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  mallctl(purge.c_str(), nullptr, nullptr, nullptr, 0);
}

bool give_free_pages_back(std::chrono::milliseconds within) noexcept {
  const ssize_t decay_ms = within.count();
  const auto arenas = read_control<unsigned>("arenas.narenas");
  // Arenas that are not yet used refuse, and take the default when they are made.
  for (unsigned i = 0; i < arenas; ++i) {
    write_control(("arena." + std::to_string(i) + ".dirty_decay_ms").c_str(), decay_ms);
  }
  write_control("arenas.dirty_decay_ms", decay_ms);
  return write_control("background_thread", true);
}

bool is_allocator_ours() noexcept {
  constexpr std::size_t kProbeBytes = std::size_t{1} << 20;
  const auto allocated = [] { return read_control<std::uint64_t>("thread.allocated"); };
  const std::uint64_t before = allocated();
  void* volatile probe = std::malloc(kProbeBytes);  // volatile: the pair is not removed
  const bool is_counted = probe == nullptr || allocated() - before >= kProbeBytes;
  std::free(probe);
  return is_counted;
}

}  // namespace isotherm::heap
