// The names of the heaps' memory, by which other programs tell it from other memory.
#pragma once

#include <array>
#include <cstddef>

#include "heap/kind.hpp"
#include "os/memory/memory_name.hpp"

namespace isotherm::heap {

/// Names memory of a heap: "[anon:isotherm-hot]" in /proc/PID/smaps.
inline void name_memory(kind where, void* begin, std::size_t bytes) noexcept {
  constexpr std::array<const char*, kKinds.size()> kNames{"isotherm-new", "isotherm-hot",
                                                          "isotherm-cold", "isotherm-node"};
  os::name_memory(begin, bytes, kNames[static_cast<std::size_t>(where)]);
}

}  // namespace isotherm::heap
