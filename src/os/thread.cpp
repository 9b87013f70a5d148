#include "os/thread.hpp"

#include <cerrno>
#include <new>
#include <system_error>

#include "os/faults.hpp"

namespace isotherm::os {

base::result<thread> start_thread(std::function<void()> body) {
  int code = injected_thread_fault();
  if (code == 0) {
    try {
      return thread(std::jthread(std::move(body)));
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
