// Living on where a page of a mapped file cannot be read: the system then sends SIGBUS to the
// thread that touches it.
//
// A guarded piece of code ends at the access that fails, wherever that is, and survives() says so.
// That is a jump out of a signal handler: safe, because the signal is sent for what the thread does
// itself at that place, as long as the piece is a leaf that may stop anywhere.
#pragma once

#include <csetjmp>
#include <cstddef>

#include "base/atomic.hpp"
#include "base/error.hpp"

namespace isotherm::os {

/// From now on SIGBUS at [begin, begin + bytes) ends the guarded piece that met it. Outside of one
/// it ends the process with a line that says why; elsewhere it goes to the handler that was
/// installed before, if any. At most once in a process.
base::result<void> catch_bus_errors(const void* begin, std::size_t bytes);

/// Where this thread goes on; null outside of guarded pieces. Read by the signal handler.
extern constinit thread_local sigjmp_buf* guarded_piece __attribute__((tls_model("initial-exec")));

/// Runs `piece`, which must take no lock, own nothing, call nothing that does, and not guard in
/// turn. False when it ended at a page that could not be read; what it had written until then stays
/// written.
template <class Piece>
bool survives(Piece piece) noexcept {
  sigjmp_buf place;
  // Without the signal mask, which the handler's flags leave as it was: saves a system call.
  if (sigsetjmp(place, 0) != 0) {
    guarded_piece = nullptr;
    return false;
  }
  guarded_piece = &place;
  base::compiler_barrier();  // with the handler, which runs on this thread
  piece();
  base::compiler_barrier();
  guarded_piece = nullptr;
  return true;
}

}  // namespace isotherm::os
