// Scopes that stay open for long, and so hold up the collector.
#pragma once

#include <optional>

#include "touching.hpp"

namespace isotherm::compiler {

/// The cause that keeps a scope open.
struct holding {
  std::string what;             ///< in words
  const llvm::Instruction* at;  ///< null: of no place
};

/// Returns the first loop without an end, or call that waits, in `function` or in what it calls
/// within its scope; none: there is none that can be seen.
std::optional<holding> held_by(llvm::Function& function, const touching& found);

}  // namespace isotherm::compiler
