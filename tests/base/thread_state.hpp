// Whether another thread of this process sleeps, and which one bears a name.
#pragma once

#include <sys/types.h>

#include <filesystem>
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

/// The thread of this process that bears that name, or 0.
inline pid_t thread_named(const std::string& name) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string line;
    if (std::getline(file, line) && line == name) return std::stoi(task.path().filename());
  }
  return 0;
}

}  // namespace isotherm::testing_help
