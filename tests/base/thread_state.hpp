// Whether another thread of this process sleeps.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace isotherm::testing_help {

/// The state letter of a thread of this process: R while it runs or could, S while it sleeps.
inline char state_of(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  return name_end + 2 < line.size() ? line[name_end + 2] : '?';
}

}  // namespace isotherm::testing_help
