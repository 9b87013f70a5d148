#include "os/memory/address_space.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/check.hpp"

namespace isotherm::os {
namespace {

/// MADV_POPULATE_READ and _WRITE, of Linux 5.14; an older system refuses them.
constexpr int kPopulateRead = 22, kPopulateWrite = 23;

int madvise_flag(advice wanted) noexcept {
  switch (wanted) {
    case advice::discard:
      return MADV_DONTNEED;
    case advice::cold:
      return MADV_COLD;
    case advice::page_out:
      return MADV_PAGEOUT;
    case advice::huge:
      return MADV_HUGEPAGE;
    case advice::left_out_of_dumps:
      return MADV_DONTDUMP;
    case advice::populate:
      return kPopulateRead;
    case advice::populate_for_writing:
      return kPopulateWrite;
  }
  std::unreachable();
}

/// After mlockall(MCL_FUTURE) a range would be filled with pages when it is committed, and no page
/// could leave DRAM.
void leave_unlocked(void* begin, std::size_t bytes) noexcept {
  static_cast<void>(munlock(begin, bytes));
}

}  // namespace

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::optional<std::size_t> address_space_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

base::result<std::byte*> reserve(std::size_t bytes, std::size_t alignment) {
  ISO_CHECK(alignment >= page_bytes() && (alignment & (alignment - 1)) == 0,
            "alignment must be a power of two of at least a page");
  const std::size_t padded = bytes + alignment - page_bytes();
  void* mapped =
      mmap(nullptr, padded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    return std::unexpected(base::system_error("cannot reserve address space", errno));
  }
  leave_unlocked(mapped, padded);
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t begin = (address + alignment - 1) & ~(alignment - 1);
  if (begin > address) release(mapped, begin - address);
  const std::uintptr_t tail = address + padded - (begin + bytes);
  if (tail > 0) release(reinterpret_cast<void*>(begin + bytes), tail);
  return reinterpret_cast<std::byte*>(begin);
}

base::result<void> commit(void* begin, std::size_t bytes) {
  if (mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0) return {};
  return std::unexpected(base::system_error("cannot commit memory", errno));
}

void decommit(void* begin, std::size_t bytes) noexcept {
  // A new mapping: protecting the old one would leave what it was charged with (overcommit_memory).
  void* const mapped =
      mmap(begin, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (mapped == begin) {
    leave_unlocked(begin, bytes);
    static_cast<void>(advise(begin, bytes, advice::left_out_of_dumps));
    return;
  }
  // The process has as many mappings as it may have: a touch of what is gone reads zeros.
  leave_unlocked(begin, bytes);
  static_cast<void>(advise(begin, bytes, advice::discard));
}

void* map_memory(std::size_t bytes) noexcept {
  void* const begin =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return begin == MAP_FAILED ? nullptr : begin;
}

void* remap_memory(void* begin, std::size_t bytes, std::size_t wanted) noexcept {
  void* const moved = mremap(begin, bytes, wanted, MREMAP_MAYMOVE);
  return moved == MAP_FAILED ? nullptr : moved;
}

void release(void* begin, std::size_t bytes) noexcept {
  if (munmap(begin, bytes) == 0) return;
  ISO_CHECK(errno == ENOMEM, "a range that is released was mapped");
  // A part of a larger mapping: the kernel has no memory to split it within the control group's
  // limit, or the process has as many mappings as it may have.
  static_cast<void>(madvise(begin, bytes, MADV_DONTNEED_LOCKED));  // locked or not
}

base::result<void> advise(void* begin, std::size_t bytes, advice wanted) {
  constexpr int kAttempts = 16;
  int code = 0;
  for (int i = 0; i < kAttempts; ++i) {
    if (madvise(begin, bytes, madvise_flag(wanted)) == 0) return {};
    code = errno;
    if (code != EAGAIN && code != EINTR) break;
  }
  return std::unexpected(base::system_error("madvise", code));
}

}  // namespace isotherm::os
