#include "validation.hpp"

#include <vector>

#include "ast_facts.hpp"
#include "checker.hpp"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "names.hpp"

namespace isotherm::compiler {

using namespace clang;

namespace {

/// Everything in a file that may use guides.
struct finder : RecursiveASTVisitor<finder> {
  explicit finder(const SourceManager& from) : sources(from) {}
  bool shouldVisitTemplateInstantiations() const { return true; }

  /// Skips the standard library, which uses no guides. Visiting it would load all of it from a
  /// precompiled header, of which most compilations need little.
  bool TraverseNamespaceDecl(NamespaceDecl* space) {
    if (is_in_namespace(space, "std") && sources.isInSystemHeader(space->getLocation())) {
      return true;
    }
    return RecursiveASTVisitor::TraverseNamespaceDecl(space);
  }
  bool VisitFunctionDecl(FunctionDecl* function) {
    const auto* method = dyn_cast<CXXMethodDecl>(function);
    if (function->isDependentContext()) return true;
    if (!function->isDefined() && standing_of(function) == standing::inside) {
      declared.push_back(function);
    }
    if (!function->doesThisDeclarationHaveABody()) return true;
    if (method != nullptr && method->getParent()->isLambda()) return true;  // with what it is in
    const standing kind = standing_of(function);
    if (kind == standing::runtime || kind == standing::transparent) return true;
    functions.push_back(function);
    return true;
  }
  bool VisitLambdaExpr(LambdaExpr* lambda) {
    const CXXMethodDecl* const called = lambda->getCallOperator();
    if (const FunctionTemplateDecl* made = called->getDescribedFunctionTemplate()) {
      for (const FunctionDecl* each : made->specializations()) {
        if (each->hasBody() && !each->isDependentContext()) lambdas.push_back(each);
      }
    } else if (!called->isDependentContext()) {
      lambdas.push_back(called);
    }
    return true;
  }
  bool VisitFieldDecl(FieldDecl* field) {
    if (has_annotation(field, kGuide)) marked.push_back(field);
    if (field->hasInClassInitializer()) keep(field, field->getInClassInitializer());
    return true;
  }
  bool VisitVarDecl(VarDecl* variable) {
    if (variable->isFileVarDecl()) keep(variable, variable->getInit());
    return true;
  }
  void keep(ValueDecl* of, const Expr* value) {
    if (value == nullptr || value->isInstantiationDependent() || is_in_namespace(of, "std") ||
        is_in_namespace(of, "isotherm")) {
      return;
    }
    initialized.emplace_back(of, value);
  }

  const SourceManager& sources;
  std::vector<const FunctionDecl*> functions;
  std::vector<const FunctionDecl*> lambdas;
  std::vector<const FunctionDecl*> declared;  // inside functions that are defined elsewhere
  std::vector<const FieldDecl*> marked;
  std::vector<std::pair<const ValueDecl*, const Expr*>> initialized;  // outside of functions
};

/// Where the header is included, objects that are compiled without the plugin do not link with
/// those compiled with it.
void check_includes(ASTContext& context, const std::vector<const FieldDecl*>& marked,
                    const including_files& including, complaints& complain) {
  if (!including.are_known) return;
  const SourceManager& sources = context.getSourceManager();
  for (const FieldDecl* field : marked) {
    if (field->isFromASTFile()) continue;  // was checked when the precompiled header was made
    const FileID file = sources.getFileID(sources.getExpansionLoc(field->getLocation()));
    if (including.files.count(file) != 0) continue;
    complain.error(field->getSourceRange(),
                   "a file that marks guides includes <isotherm/compiler.hpp> itself, so that "
                   "objects compiled without the plugin are found out");
  }
}

/// A virtual method may be called as any that it overrides.
void add(returning_functions& returning, const FunctionDecl* function) {
  returning.add(function);
  const auto* method = dyn_cast<CXXMethodDecl>(function);
  if (method == nullptr) return;
  for (const CXXMethodDecl* overridden : method->overridden_methods()) add(returning, overridden);
}

/// Which functions return addresses of guides' objects. Of one that is defined elsewhere: returns
/// what may be one, by its type.
returning_functions find_returning(const finder& found) {
  returning_functions returning;
  llvm::SmallPtrSet<const Type*, 8> held;
  for (const FieldDecl* field : found.marked) {
    if (const auto pointee = pointee_of_marked(field->getType()); !pointee.isNull()) {
      held.insert(pointee->getCanonicalTypeUnqualified().getTypePtr());
    }
  }
  for (const FunctionDecl* function : found.declared) {
    const QualType object = function->getReturnType()->getPointeeType();
    if (!object.isNull() && held.contains(object->getCanonicalTypeUnqualified().getTypePtr())) {
      returning.add(function);
    }
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const auto* functions : {&found.functions, &found.lambdas}) {
      for (const FunctionDecl* function : *functions) {
        if (returning.contains(function)) continue;
        if (!returns_address(function, returning)) continue;
        add(returning, function);
        has_changed = true;
      }
    }
  }
  return returning;
}

}  // namespace

void validate(ASTContext& context, const including_files& including, const options& chosen) {
  finder found(context.getSourceManager());
  found.TraverseAST(context);
  complaints complain(context);
  check_includes(context, found.marked, including, complain);
  const returning_functions returning = find_returning(found);
  // What comes from a precompiled header was checked when that was made.
  for (const FunctionDecl* function : found.functions) {
    if (!function->isFromASTFile()) check_function(function, returning, complain, chosen);
  }
  for (const auto& [of, value] : found.initialized) {
    if (!of->isFromASTFile()) check_initializer(of, value, returning, complain, chosen);
  }
}

}  // namespace isotherm::compiler
