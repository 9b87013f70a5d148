// Runs code in a fork child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace isotherm::testing_help {

/// Whether a child, forked here, ends with the status that `in_child` returns, and that is 0.
template <class InChild>
bool succeeds_in_a_child(InChild in_child) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // ends a child that waits for ever
    _exit(in_child());
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace isotherm::testing_help
