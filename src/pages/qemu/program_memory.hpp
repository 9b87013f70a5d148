// Reads and writes of the observed program's memory inside QEMU: any address is allowed, also one
// that the program has made up, since the kernel copies.
#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pages/qemu/plugin_api.hpp"

namespace isotherm::pages {

/// Returns the address in this process of the program's address 0.
inline std::uintptr_t base_of_program() noexcept { return &guest_base != nullptr ? guest_base : 0; }

/// Copies up to `bytes` bytes at `address`, and returns how many there are before the first page
/// that the program may not read.
inline std::size_t copy_some(std::uint64_t address, void* to, std::size_t bytes) noexcept {
  constexpr std::uint64_t kPage = 4096;
  std::size_t copied = 0;
  while (copied < bytes) {  // page by page: the kernel copies the parts before one that it cannot
    const std::uint64_t from = address + copied;
    const std::size_t part = std::min<std::size_t>(kPage - from % kPage, bytes - copied);
    const iovec target{static_cast<std::byte*>(to) + copied, part};
    const iovec source{reinterpret_cast<void*>(base_of_program() + from), part};
    if (::process_vm_readv(::getpid(), &target, 1, &source, 1, 0) != ssize_t(part)) break;
    copied += part;
  }
  return copied;
}

/// Copies `bytes` bytes at `address`; returns false where the program has not all of them.
inline bool copy_whole(std::uint64_t address, void* to, std::size_t bytes) noexcept {
  return copy_some(address, to, bytes) == bytes;
}

/// Writes `bytes` bytes to `address`; returns false where the program may not write to all of them.
inline bool write_whole(std::uint64_t address, const void* from, std::size_t bytes) noexcept {
  const iovec source{const_cast<void*>(from), bytes};
  const iovec target{reinterpret_cast<void*>(base_of_program() + address), bytes};
  return ::process_vm_writev(::getpid(), &source, 1, &target, 1, 0) == ssize_t(bytes);
}

/// Copies the text at `address` until its zero, or as much of it as `to` and the program's memory
/// hold; it ends by a zero in any case.
template <std::size_t kSize>
void copy_text(std::uint64_t address, char (&to)[kSize]) noexcept {
  to[copy_some(address, to, kSize - 1)] = '\0';
}

}  // namespace isotherm::pages
