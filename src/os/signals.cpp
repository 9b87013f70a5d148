#include "os/signals.hpp"

#include <initializer_list>

namespace isotherm::os {

signals_blocked::signals_blocked() noexcept {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int mine : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
    sigdelset(&blocked, mine);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before_);
}

signals_blocked::~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace isotherm::os
