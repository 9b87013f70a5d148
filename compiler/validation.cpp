#include "validation.hpp"

#include <vector>

#include "addresses/carrying.hpp"
#include "addresses/flow.hpp"
#include "ast_facts.hpp"
#include "attribute.hpp"
#include "checker.hpp"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "names.hpp"

namespace isotherm::compiler {

using namespace clang;

namespace {

/// Whether clang has found an error in `code`, of which only a part may be there then.
bool has_errors(const Stmt* code) {
  struct error_finder : RecursiveASTVisitor<error_finder> {
    bool VisitExpr(Expr* expression) { return !expression->containsErrors(); }
    bool VisitVarDecl(VarDecl* variable) { return !variable->isInvalidDecl(); }
  };
  return !error_finder().TraverseStmt(const_cast<Stmt*>(code));
}

/// Everything in a file that may use guides.
struct finder : RecursiveASTVisitor<finder> {
  explicit finder(const ASTContext& context)
      : sources(context.getSourceManager()),
        may_have_errors(context.getDiagnostics().hasErrorOccurred()) {}
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
    if (function->isDependentContext() || is_broken(function)) return true;
    if (!function->isDefined()) declared.push_back(function);
    if (!function->doesThisDeclarationHaveABody()) return true;
    if (method != nullptr && method->getParent()->isLambda()) return true;  // with what it is in
    const standing kind = standing_of(function);
    if (kind == standing::runtime || kind == standing::transparent) return true;
    if (may_have_errors && has_errors(function->getBody())) return true;
    functions.push_back(function);
    return true;
  }
  bool VisitLambdaExpr(LambdaExpr* lambda) {
    const CXXMethodDecl* const called = lambda->getCallOperator();
    if (is_broken(called) || (may_have_errors && has_errors(called->getBody()))) return true;
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
    if (is_broken(field)) return true;
    if (has_annotation(field, kGuide)) marked.push_back(field);
    if (field->getParent()->isUnion()) in_unions.push_back(field);
    if (field->hasInClassInitializer()) keep(field, field->getInClassInitializer());
    return true;
  }
  bool VisitVarDecl(VarDecl* variable) {
    if (variable->isFileVarDecl()) keep(variable, variable->getInit());
    return true;
  }
  void keep(ValueDecl* of, const Expr* value) {
    if (value == nullptr || value->isInstantiationDependent() || is_broken(of) ||
        value->containsErrors() || is_in_namespace(of, "std") || is_in_namespace(of, "isotherm")) {
      return;
    }
    initialized.emplace_back(of, value);
  }

  /// Whether clang has refused a declaration or the class that it is in.
  static bool is_broken(const Decl* declaration) {
    const auto* around = dyn_cast<Decl>(declaration->getDeclContext());
    return declaration->isInvalidDecl() || (around != nullptr && around->isInvalidDecl());
  }

  const SourceManager& sources;
  const bool may_have_errors;
  std::vector<const FunctionDecl*> functions;
  std::vector<const FunctionDecl*> lambdas;
  std::vector<const FunctionDecl*> declared;  // that are defined elsewhere
  std::vector<const FieldDecl*> marked;
  std::vector<const FieldDecl*> in_unions;
  std::vector<std::pair<const ValueDecl*, const Expr*>> initialized;  // outside of functions
};

/// Checks that isotherm/compiler.hpp is included: through it, objects that are compiled without the
/// plugin do not link with those compiled with it.
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

/// Objects with guides of their own do not move by copying their bytes, and what is in a union may
/// not be there.
void check_fields(const finder& found, complaints& complain) {
  for (const FieldDecl* field : found.marked) {
    if (field->isFromASTFile()) continue;
    const QualType object = pointee_of_marked(field->getType());
    const CXXRecordDecl* record = object.isNull() ? nullptr : object->getAsCXXRecordDecl();
    if (!holds_marked(record)) continue;
    complain.error(field->getSourceRange(),
                   "a '" + record->getNameAsString() +
                       "' has marked fields of its own, which cannot be moved by copying bytes: "
                       "mark the pointers to what does not own other objects");
  }
  for (const FieldDecl* field : found.in_unions) {
    if (field->isFromASTFile()) continue;
    const Type* const held = field->getType()->getBaseElementTypeUnsafe();
    if (!holds_marked(held->getAsCXXRecordDecl())) continue;
    complain.error(field->getSourceRange(),
                   "a member of a union cannot hold guides: the collector would read them while "
                   "another member is there");
  }
}

/// A virtual method may be called as any that it overrides.
void add_returning(functions& into, const FunctionDecl* function) {
  into.add_returning(function);
  const auto* method = dyn_cast<CXXMethodDecl>(function);
  if (method == nullptr) return;
  for (const CXXMethodDecl* overridden : method->overridden_methods()) {
    add_returning(into, overridden);
  }
}

/// Notes a function that is defined elsewhere and that may, by its type, return an address.
void look_at_declared(functions& into, const FunctionDecl* function,
                      llvm::ArrayRef<QualType> held) {
  const standing stands = standing_of(function);
  if (stands == standing::runtime || stands == standing::transparent) return;
  if (has_annotation(function, kUntouched)) return;
  const QualType type = function->getReturnType();
  const auto may_lead_to = [&](QualType object) { return may_carry(type, object); };
  const bool is_said = has_annotation(function, kSaid);
  if (stands == standing::inside) {
    if (holds_marked(target_type(type)->getAsCXXRecordDecl())) return;
    if (llvm::any_of(held, may_lead_to) || (is_said && may_carry(type, {}))) {
      add_returning(into, function);
    }
  } else if (type->isPointerType() && into.is_held(target_type(type))) {
    into.add_making(function);
  }
}

/// Which functions return addresses.
void find_functions(const finder& found, functions& into) {
  llvm::SmallVector<QualType, 8> held;
  for (const FieldDecl* field : found.marked) {
    const QualType pointee = pointee_of_marked(field->getType());
    if (pointee.isNull() || into.is_held(pointee)) continue;
    into.add_held(pointee);
    held.push_back(pointee);
  }
  for (const FunctionDecl* function : found.declared) look_at_declared(into, function, held);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const auto* each : {&found.functions, &found.lambdas}) {
      for (const FunctionDecl* function : *each) {
        if (into.returns(function) || into.makes(function)) continue;
        const origin returned = returned_by(function, into);
        if (!returned || (is_entry(function) && !returned.is_made)) continue;
        if (returned.is_made) {
          into.add_making(function);
        } else {
          add_returning(into, function);
        }
        has_changed = true;
      }
    }
  }
}

/// Whether something in this file, or in what was made before it, may have to do with guides.
bool may_use_guides(ASTContext& context) {
  if (saw_marks() || context.getExternalSource() != nullptr) return true;
  for (const char* name : {"marked", "pinned"}) {
    if (are_there(template_of_ours(context, name))) return true;
  }
  // A jump is warned of everywhere.
  for (const char* name : {"longjmp", "_longjmp", "siglongjmp"}) {
    const auto found = context.Idents.find(name);
    if (found == context.Idents.end()) continue;
    for (const NamedDecl* each : context.getTranslationUnitDecl()->lookup(found->second)) {
      if (each->isUsed(false) || each->isReferenced()) return true;
    }
  }
  return false;
}

}  // namespace

void validate(ASTContext& context, const including_files& including, const options& chosen) {
  if (!may_use_guides(context)) return;
  finder found(context);
  found.TraverseAST(context);
  complaints complain(context);
  check_includes(context, found.marked, including, complain);
  check_fields(found, complain);
  functions all(context);
  find_functions(found, all);
  // Functions of a precompiled header were checked when it was made.
  for (const FunctionDecl* function : found.functions) {
    if (function->isFromASTFile()) continue;
    check_function(function, complain, chosen);
    check_addresses(function, all, complain, chosen);
  }
  for (const auto& [of, value] : found.initialized) {
    if (of->isFromASTFile()) continue;
    check_initializer(value, complain, chosen);
    check_addresses(of, value, all, complain, chosen);
  }
}

}  // namespace isotherm::compiler
