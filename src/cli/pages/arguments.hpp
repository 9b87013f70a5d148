// The flags of isotherm pages.
#pragma once

#include <string>
#include <vector>

#include "cli/parser/command.hpp"
#include "pages/observe.hpp"

namespace isotherm::cli {

struct pages_arguments {
  std::vector<std::string> program;  ///< with its arguments
  bool counts_buffers = false;
  bool traces_objects = false;
  int pid = 0;  ///< of a process that runs already; 0: none
  std::string trace;
  pages::schedule times;
  std::string json, picture, heat_map;  ///< files; empty: none
  bool progress = false;                ///< also where standard error is no terminal
};

/// Describes the flags; the arguments outlive the parsing.
void add_pages_flags(const command& c, pages_arguments& a);

}  // namespace isotherm::cli
