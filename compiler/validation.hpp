// Refuses what must not be done with guides (docs/compiler.md).
#pragma once

#include <set>

#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceLocation.h"
#include "options.hpp"

namespace isotherm::compiler {

/// Files that include isotherm/compiler.hpp themselves.
struct including_files {
  std::set<clang::FileID> files;
  bool are_known = true;  ///< false of sources that come preprocessed
};

/// Reports the uses in `context`, the whole of a file, that are refused.
void validate(clang::ASTContext& context, const including_files& including, const options& chosen);

}  // namespace isotherm::compiler
