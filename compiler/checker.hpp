// What one function must not do with guides.
#pragma once

#include "complaints.hpp"
#include "options.hpp"
#include "origin.hpp"

namespace isotherm::compiler {

/// Reports the uses in `function`, a definition that is no template, that are refused.
void check_function(const clang::FunctionDecl* function, const returning_functions& returning,
                    complaints& complain, const options& chosen);

/// The same of `value`, which initializes `of`, a variable or a field, outside of functions.
void check_initializer(const clang::ValueDecl* of, const clang::Expr* value,
                       const returning_functions& returning, complaints& complain,
                       const options& chosen);

}  // namespace isotherm::compiler
