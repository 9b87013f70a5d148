// Visibility (Dissertation 5.2.7.1): writes on functions what the pass has to know of them.
#pragma once

#include "ast_facts.hpp"

namespace isotherm::compiler {

/// Marks `function`, before code is made of it. Idempotent.
void mark_function(clang::FunctionDecl* function, reach& classes);
/// Marks what the body and the initialisers of `function` name.
void mark_callees(clang::FunctionDecl* function, reach& classes);

}  // namespace isotherm::compiler
