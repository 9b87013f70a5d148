// Puts scopes where touching.hpp says.
#pragma once

#include "llvm/IR/PassManager.h"
#include "options.hpp"

namespace isotherm::compiler {

/// Runs before every other pass, at each level of optimisation, in the compilation of one file: the
/// calls of guides' functions are still there.
class scope_pass : public llvm::PassInfoMixin<scope_pass> {
 public:
  explicit scope_pass(const options& chosen) : options_(chosen) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }  // also of functions that are not to be optimised

 private:
  options options_;
};

}  // namespace isotherm::compiler
