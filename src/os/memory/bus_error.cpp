#include "os/memory/bus_error.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace isotherm::os {

constinit thread_local sigjmp_buf* guarded_piece = nullptr;

namespace {

// Set before the handler is installed, and never again.
std::uintptr_t first = 0;
std::uintptr_t end = 0;
struct sigaction before;

void pass_on(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    return before.sa_handler(signal);
  }
  const bool was_sent = info->si_code <= 0;  // by a process; else for an access of this thread
  if (was_sent && before.sa_handler == SIG_IGN) return;
  // Ends the process when the access is tried again, or the signal sent again.
  ::signal(SIGBUS, SIG_DFL);
  if (was_sent) ::raise(SIGBUS);
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (info->si_code <= 0 || address < first || address >= end) {
    return pass_on(signal, info, context);
  }
  if (guarded_piece) siglongjmp(*guarded_piece, 1);
  constexpr char kWhy[] =
      "isotherm: a page of COLD that was in memory a moment ago cannot be read: check the disk of "
      "the cold directory\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kWhy, sizeof kWhy - 1);
  pass_on(signal, info, context);
}

}  // namespace

base::result<void> catch_bus_errors(const void* begin, std::size_t bytes) {
  first = reinterpret_cast<std::uintptr_t>(begin);
  end = first + bytes;
  struct sigaction action = {};
  action.sa_sigaction = &on_bus_error;
  // Not blocked while it runs, as it may not return; on the alternative stack where there is one.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (::sigaction(SIGBUS, nullptr, &before) == 0 && ::sigaction(SIGBUS, &action, nullptr) == 0) {
    return {};
  }
  return std::unexpected(base::system_error("cannot catch SIGBUS", errno));
}

}  // namespace isotherm::os
