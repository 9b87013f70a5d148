// Messages of clang itself about marked fields, in the words of the source.
#pragma once

#include <vector>

#include "clang/Basic/SourceLocation.h"
#include "clang/Frontend/CompilerInstance.h"

namespace isotherm::compiler {

/// An attribute of namespace isotherm that does not exist.
struct unknown_attribute {
  clang::SourceRange name;
  std::string text;
};
using unknown_attributes = std::vector<unknown_attribute>;

/// Puts itself between `compiler` and what prints its messages. A message about isotherm::marked,
/// the class of a marked field, says what to write instead, with a fix-it, or names the field's
/// type as it is written. Adds to `typos` the unknown attributes of namespace isotherm, of which
/// clang only warns.
void give_hints(clang::CompilerInstance& compiler, std::shared_ptr<unknown_attributes> typos);

/// Reports `typos` as errors.
void report(const unknown_attributes& typos, clang::DiagnosticsEngine& to);

}  // namespace isotherm::compiler
