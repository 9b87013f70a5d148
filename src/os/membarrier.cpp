#include "os/membarrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "base/atomic.hpp"
#include "base/check.hpp"

namespace isotherm::os {
namespace {

long membarrier_call(int command) noexcept { return syscall(SYS_membarrier, command, 0U, 0); }

bool try_register() noexcept {
  const long supported = membarrier_call(MEMBARRIER_CMD_QUERY);
  if (supported < 0 || (supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return false;
  return membarrier_call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

// Release on registration, acquire on use: who sees true also sees the kernel's registration.
base::atomic<bool> registered{false};

}  // namespace

bool register_membarrier() noexcept {
  static const bool succeeded = [] {
    const bool ok = try_register();
    registered.store_release(ok);
    return ok;
  }();
  return succeeded;
}

bool has_membarrier() noexcept { return registered.load_acquire(); }

void membarrier() noexcept {
  if (!has_membarrier()) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return;
  }
  // The other threads rely on it by now: there is no falling back (a filter of system calls that
  // came later, say).
  ISO_CHECK(membarrier_call(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0,
            "membarrier(2), once registered, works");
}

}  // namespace isotherm::os
