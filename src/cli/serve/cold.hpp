// The place of cold bytes, as flags of serve ask for it.
#pragma once

#include "cli/parser/command.hpp"
#include "cli/serve/options.hpp"

namespace isotherm::cli {

/// Decides where COLD lies: as the operator said, or where its bytes can leave DRAM; and on the
/// hint that was not given: without swap one for anonymous memory would be asked in vain. Reads the
/// profile of COLD's device. A mistake fails the command.
void place_cold(const command& described, serve_options& o);

}  // namespace isotherm::cli
