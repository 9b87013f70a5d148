// Options of the plugin, -fplugin-arg-isotherm-NAME.
#pragma once

#include <string>

namespace isotherm::compiler {

struct options {
  std::string report;           ///< file that says what was instrumented and why; empty: none
  bool warns_longjmp = true;    ///< -Wisotherm-longjmp
  bool warns_malloc = true;     ///< -Wisotherm-malloc
  bool warns_kept = true;       ///< -Wisotherm-kept
  bool warns_main = true;       ///< -Wisotherm-main
  bool warns_held = true;       ///< -Wisotherm-held
  bool warns_discarded = true;  ///< -Wisotherm-discarded
};

/// False where `argument` is no option.
bool parse_option(options& into, const std::string& argument);

}  // namespace isotherm::compiler
