// Which signals a thread takes.
#pragma once

#include <csignal>

namespace isotherm::os {

/// For its life the calling thread, and for good a thread that it starts meanwhile, takes no
/// signals sent to the process: a service's own threads must not run the application's handlers.
/// Signals for what a thread does itself (SIGSEGV, SIGBUS, ...) and SIGPROF still come.
class signals_blocked {
 public:
  signals_blocked() noexcept;
  ~signals_blocked();
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace isotherm::os
