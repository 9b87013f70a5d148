#include "os/thread.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "os/faults.hpp"

namespace isotherm::os {

base::result<thread> start_thread(const char* name, std::function<void()> body) {
  int code = injected_thread_fault();
  if (code == 0) {
    try {
      return thread(std::jthread([name, body = std::move(body)] {
        ::prctl(PR_SET_NAME, name);
        body();
      }));
    } catch (const std::system_error& refused) {
      code = refused.code().value();
    } catch (const std::bad_alloc&) {
      code = ENOMEM;
    }
  }
  auto e = base::system_error("cannot start a thread", code);
  e.message += ": allow more processes and memory (ulimit -u and -v, or the container's limits)";
  return std::unexpected(std::move(e));
}

}  // namespace isotherm::os
