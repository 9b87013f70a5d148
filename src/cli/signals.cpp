#include "cli/signals.hpp"

#include <signal.h>

namespace isotherm::cli {
namespace {

base::atomic<bool> interrupted{false};

void on_signal(int) { interrupted.store_relaxed(true); }

}  // namespace

const base::atomic<bool>& catch_signals() {
  struct sigaction action = {};
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    ::sigaction(s, nullptr, &before);
    action.sa_handler = before.sa_handler == SIG_IGN ? SIG_IGN : on_signal;
    ::sigaction(s, &action, nullptr);
  }
  action.sa_handler = SIG_IGN;
  for (const int s : {SIGPIPE, SIGXFSZ}) ::sigaction(s, &action, nullptr);
  return interrupted;
}

}  // namespace isotherm::cli
