#include "cli/signals.hpp"

#include <signal.h>

namespace isotherm::cli {
namespace {

std::stop_source* requested = nullptr;  // set once, before any handler can run

bool pipes_were_ignored = false;

/// Without callbacks a request is a few lock-free atomic operations, which a handler may do. It
/// marks the state while it works and waits for another's mark, so no handler may interrupt it on
/// its own thread.
void on_signal(int) { requested->request_stop(); }

}  // namespace

std::stop_token catch_signals() {
  // Never destroyed: a signal may still come while the process exits.
  static std::stop_source& source = *new std::stop_source;
  requested = &source;
  struct sigaction action = {};
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&action.sa_mask, s);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    ::sigaction(s, nullptr, &before);
    action.sa_handler = before.sa_handler == SIG_IGN ? SIG_IGN : on_signal;
    ::sigaction(s, &action, nullptr);
  }
  struct sigaction before = {};
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &action, nullptr);
  ::sigaction(SIGPIPE, &action, &before);
  pipes_were_ignored = before.sa_handler == SIG_IGN;
  return source.get_token();
}

void end_as_by_closed_pipe() {
  if (pipes_were_ignored) return;
  ::signal(SIGPIPE, SIG_DFL);
  ::raise(SIGPIPE);
}

}  // namespace isotherm::cli
