// The memory of a program that runs inside QEMU, apart from QEMU's own.
#pragma once

#include "base/error.hpp"
#include "pages/memory_image.hpp"
#include "pages/qemu/control.hpp"

namespace isotherm::pages {

/// Returns the program's memory, at the program's addresses. Requires: the plugin has listed the
/// regions in `c`, and the process `pid` of QEMU still has its memory.
/// Errors: the process has ended, no permission.
base::result<memory_image> read_guest_memory(int pid, const control& c);

}  // namespace isotherm::pages
