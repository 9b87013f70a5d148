// The machine that measures and the command that it was given: facts that results carry, so that
// they can be told apart and repeated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace isotherm::os {

struct machine {
  std::string processor;    ///< model, or the architecture where the system names no model
  unsigned processors = 0;  ///< that the system has
  std::uint64_t memory_bytes = 0;
  std::string system;  ///< kernel and its release
};

/// Any thread; reads files of /proc.
machine this_machine();

/// This process's command line, the program first. Any thread.
std::vector<std::string> command_words();

}  // namespace isotherm::os
