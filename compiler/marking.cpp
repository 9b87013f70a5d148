#include "marking.hpp"

#include <utility>

#include "addresses/carrying.hpp"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "names.hpp"

namespace isotherm::compiler {

using namespace clang;

namespace {

void write(FunctionDecl* function, const char* text) {
  if (has_annotation(function, text)) return;
  function->addAttr(AnnotateAttr::CreateImplicit(function->getASTContext(), text, nullptr, 0));
}

/// Declared in a system header (or built in) and not defined in this file: its body is in a system
/// library, which uses no guides.
bool is_system(const FunctionDecl* function) {
  const auto& sources = function->getASTContext().getSourceManager();
  if (function->isDefined()) return false;
  return function->getBuiltinID() != 0 || function->getLocation().isInvalid() ||
         sources.isInSystemHeader(function->getLocation());
}

struct callee_marker : RecursiveASTVisitor<callee_marker> {
  callee_marker(FunctionDecl* function, reach& known) : caller(function), classes(known) {}
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitDeclRefExpr(DeclRefExpr* named) { return mark(named->getDecl()); }
  bool VisitMemberExpr(MemberExpr* named) { return mark(named->getMemberDecl()); }
  bool VisitCXXConstructExpr(CXXConstructExpr* made) { return mark(made->getConstructor()); }
  bool TraverseLambdaExpr(LambdaExpr* lambda) {
    if (!lambda->isGenericLambda()) mark_function(lambda->getCallOperator(), classes);
    FunctionDecl* const around = std::exchange(caller, lambda->getCallOperator());
    const bool goes_on = RecursiveASTVisitor::TraverseLambdaExpr(lambda);
    caller = around;
    return goes_on;
  }
  bool mark(ValueDecl* named) {
    auto* const function = dyn_cast<FunctionDecl>(named);
    if (function == nullptr) return true;
    mark_function(function, classes);
    const auto* method = dyn_cast<CXXMethodDecl>(function);
    if (method != nullptr && method->isVirtual() && has_annotation(method, kInside) &&
        (has_annotation(method, kKnows) || has_annotation(method, kGives))) {
      write(caller, kCallsInside);
    }
    return true;
  }
  FunctionDecl* caller;
  reach& classes;
};

}  // namespace

void mark_function(FunctionDecl* function, reach& classes) {
  if (function->isDependentContext()) return;
  switch (standing_of(function)) {
    case standing::runtime:
      return write(function, kRuntime);
    case standing::transparent:
      if (!is_of_std_headers(function)) write(function, kTransparent);
      return;
    case standing::inside:
      write(function, kInside);
      if (isa<CXXMethodDecl>(function) && may_carry(function->getReturnType(), {})) {
        write(function, kGives);
      }
      break;
    case standing::open:
      if (isa<CXXMethodDecl>(function)) {
        write(function, kPublic);
      } else if (is_system(function) && !function->isTemplateInstantiation()) {
        write(function, kUntouched);
      }
      break;
  }
  const auto* method = dyn_cast<CXXMethodDecl>(function);
  if (method != nullptr && classes.knows(method->getParent())) write(function, kKnows);
}

void mark_callees(FunctionDecl* function, reach& classes) {
  callee_marker(function, classes).TraverseDecl(function);
}

}  // namespace isotherm::compiler
