// Names of memory, as /proc/PID/smaps and `isotherm pages` tell them.
#pragma once

#include <cstddef>

namespace isotherm::os {

/// Names anonymous memory: "[anon:NAME]". `name` has at most 79 characters, none of []\$`, and
/// outlives the call only. Does nothing where the kernel has no such names
/// (CONFIG_ANON_VMA_NAME); memory that is decommitted loses its name. Any thread.
void name_memory(void* begin, std::size_t bytes, const char* name) noexcept;

}  // namespace isotherm::os
