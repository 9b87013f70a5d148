#include "validation.hpp"

#include <vector>

#include "ast_facts.hpp"
#include "checker.hpp"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "names.hpp"

namespace isotherm::compiler {

using namespace clang;

namespace {

/// Everything in a file that may use guides.
struct finder : RecursiveASTVisitor<finder> {
  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitFunctionDecl(FunctionDecl* function) {
    const auto* method = dyn_cast<CXXMethodDecl>(function);
    if (!function->doesThisDeclarationHaveABody() || function->isDependentContext()) return true;
    if (method != nullptr && method->getParent()->isLambda()) return true;  // with what it is in
    const standing kind = standing_of(function);
    if (kind == standing::runtime || kind == standing::transparent) return true;
    functions.push_back(function);
    return true;
  }
  bool VisitFieldDecl(FieldDecl* field) {
    if (has_annotation(field, kGuide)) marked.push_back(field);
    return true;
  }

  std::vector<const FunctionDecl*> functions;
  std::vector<const FieldDecl*> marked;
};

/// Where the header is included, objects that are compiled without the plugin do not link with
/// those compiled with it.
void check_includes(ASTContext& context, const std::vector<const FieldDecl*>& marked,
                    const including_files& including, complaints& complain) {
  if (!including.are_known) return;
  const SourceManager& sources = context.getSourceManager();
  for (const FieldDecl* field : marked) {
    const FileID file = sources.getFileID(sources.getExpansionLoc(field->getLocation()));
    if (including.files.count(file) != 0) continue;
    complain.error(field->getSourceRange(),
                   "a file that marks guides includes <isotherm/compiler.hpp> itself, so that "
                   "objects compiled without the plugin are found out");
  }
}

}  // namespace

void validate(ASTContext& context, const including_files& including, const options& chosen) {
  finder found;
  found.TraverseAST(context);
  complaints complain(context);
  check_includes(context, found.marked, including, complain);
  returning_functions returning;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const FunctionDecl* function : found.functions) {
      if (returning.contains(function->getCanonicalDecl())) continue;
      if (!returns_address(function, returning)) continue;
      returning.insert(function->getCanonicalDecl());
      has_changed = true;
    }
  }
  for (const FunctionDecl* function : found.functions) {
    check_function(function, returning, complain, chosen);
  }
}

}  // namespace isotherm::compiler
