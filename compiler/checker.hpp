// Rules for guides themselves, their words and their nodes, within one function.
#pragma once

#include "complaints.hpp"
#include "options.hpp"

namespace isotherm::compiler {

/// Reports the uses in `function`, a definition that is no template, that are refused.
void check_function(const clang::FunctionDecl* function, complaints& complain,
                    const options& chosen);

/// The same of `value`, which initializes a variable or a field outside of functions.
void check_initializer(const clang::Expr* value, complaints& complain, const options& chosen);

}  // namespace isotherm::compiler
