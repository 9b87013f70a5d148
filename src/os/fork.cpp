#include "os/fork.hpp"

#include <pthread.h>

#include "base/check.hpp"

namespace isotherm::os {

void at_fork(void (*prepare)(), void (*parent)(), void (*child)()) {
  ISO_CHECK(pthread_atfork(prepare, parent, child) == 0, "fork handlers can be registered");
}

}  // namespace isotherm::os
