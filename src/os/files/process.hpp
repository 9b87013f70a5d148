// Another process, as the system shows it by its number.
#pragma once

#include "base/error.hpp"
#include "os/files/file.hpp"

namespace isotherm::os {

/// Opens a handle of process `pid` (pidfd_open(2)), which is readable once the process has ended,
/// also where its number has gone to another one. Errors: there is no such process.
base::result<file> open_process(int pid);

/// Whether process `pid` is a thread of the kernel, which has no memory of its own.
bool is_kernel_thread(int pid);

}  // namespace isotherm::os
