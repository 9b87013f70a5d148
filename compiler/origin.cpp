#include "origin.hpp"

#include "ast_facts.hpp"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace isotherm::compiler {

using namespace clang;

const Expr* unwrapped(const Expr* expression) {
  for (const Expr* before = nullptr; before != expression;) {
    before = expression;
    expression = expression->IgnoreParens();
    if (const auto* full = dyn_cast<FullExpr>(expression)) expression = full->getSubExpr();
    if (const auto* kept = dyn_cast<MaterializeTemporaryExpr>(expression)) {
      expression = kept->getSubExpr();
    }
    if (const auto* bound = dyn_cast<CXXBindTemporaryExpr>(expression)) {
      expression = bound->getSubExpr();
    }
    if (const auto* as_is = dyn_cast<ImplicitCastExpr>(expression);
        as_is != nullptr && as_is->getCastKind() == CK_NoOp) {
      expression = as_is->getSubExpr();
    }
  }
  return expression;
}

const Expr* target_of(const Expr* to) {
  llvm::SmallPtrSet<const VarDecl*, 4> seen;
  for (;;) {
    to = unwrapped(to);
    const auto* named = dyn_cast<DeclRefExpr>(to);
    const auto* variable = named == nullptr ? nullptr : dyn_cast<VarDecl>(named->getDecl());
    if (variable == nullptr || isa<ParmVarDecl>(variable) || variable->getInit() == nullptr ||
        !variable->getType()->isReferenceType() || !seen.insert(variable).second) {
      return to;
    }
    to = variable->getInit();
  }
}

const ValueDecl* guide_named(const Expr* expression) {
  expression = unwrapped(expression);
  if (!is_marked(expression->getType())) return nullptr;
  if (const auto* member = dyn_cast<MemberExpr>(expression)) return member->getMemberDecl();
  if (const auto* named = dyn_cast<DeclRefExpr>(expression)) return named->getDecl();
  return nullptr;
}

static origin merged(origin a, origin b) { return a.kind >= b.kind ? a : b; }

static origin as_inner(origin found) {
  if (found) found.kind = origin::inner;
  return found;
}

/// The object that a method is called of, or a pointer to it; null: no method is called.
static const Expr* called_of(const CallExpr* call) {
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee());
  if (method == nullptr || method->isStatic()) return nullptr;
  if (const auto* member = dyn_cast<CXXMemberCallExpr>(call)) {
    return member->getImplicitObjectArgument();
  }
  return isa<CXXOperatorCallExpr>(call) ? call->getArg(0) : nullptr;
}

origin origins::of_call(const CallExpr* call) const {
  const FunctionDecl* const callee = call->getDirectCallee();
  if (callee == nullptr) return {};
  if (const auto* method = dyn_cast<CXXMethodDecl>(callee);
      method != nullptr && is_marked(QualType(method->getParent()->getTypeForDecl(), 0))) {
    const bool gives_address = isa<CXXConversionDecl>(method)
                                   ? method->getReturnType()->isPointerType()
                                   : method->getOverloadedOperator() == OO_Arrow ||
                                         method->getOverloadedOperator() == OO_Star;
    if (!gives_address) return {};
    const Expr* const held = called_of(call);
    // A guide of no name, as std::exchange(from, nullptr) returns it: what it held is no guide's.
    if (unwrapped(held)->isPRValue()) return {};
    return {origin::whole, guide_named(held)};
  }
  if (call->getNumArgs() > 0 && is_std(callee, {"move", "forward", "as_const", "addressof"})) {
    const origin object = of_object(call->getArg(0));
    return object ? object : of_address(call->getArg(0));
  }
  if (call->getNumArgs() > 0 && is_std(callee, {"get", "get_if"})) {
    const origin object = of_object(call->getArg(0));
    return as_inner(object ? object : of_address(call->getArg(0)));
  }
  if (returning_.contains(callee)) return {origin::whole, nullptr};
  if (const Expr* const of = called_of(call)) {
    const origin object = of->getType()->isPointerType() ? of_address(of) : of_object(of);
    if (object && returning_.gives_part(cast<CXXMethodDecl>(callee))) return as_inner(object);
  }
  return {};
}

origin origins::of_address(const Expr* expression) const {
  expression = unwrapped(expression);
  if (const auto* cast = dyn_cast<CastExpr>(expression)) {
    const Expr* const inside = cast->getSubExpr();
    if (cast->getCastKind() == CK_ArrayToPointerDecay) return as_inner(of_object(inside));
    if (!cast->getType()->isPointerType()) return {};
    if (cast->getCastKind() == CK_LValueToRValue) {
      const auto* named = dyn_cast<DeclRefExpr>(unwrapped(inside));
      if (named == nullptr) return {};
      return of_address(named);
    }
    return of_address(inside);
  }
  if (isa<CXXThisExpr>(expression)) return own_;
  if (const auto* named = dyn_cast<DeclRefExpr>(expression)) {
    const auto* variable = dyn_cast<VarDecl>(named->getDecl());
    return variable == nullptr ? origin{} : of_variable(variable);
  }
  if (const auto* call = dyn_cast<CallExpr>(expression)) return of_call(call);
  if (const auto* unary = dyn_cast<UnaryOperator>(expression)) {
    if (unary->getOpcode() == UO_AddrOf) return of_object(unary->getSubExpr());
    return unary->isIncrementDecrementOp() ? of_address(unary->getSubExpr()) : origin{};
  }
  if (const auto* binary = dyn_cast<BinaryOperator>(expression)) {
    if (binary->getOpcode() == BO_Comma) return of_address(binary->getRHS());
    if (binary->isAssignmentOp()) {
      return merged(of_address(binary->getLHS()), of_address(binary->getRHS()));
    }
    if (binary->isAdditiveOp() && binary->getType()->isPointerType()) {
      return as_inner(merged(of_address(binary->getLHS()), of_address(binary->getRHS())));
    }
    return {};
  }
  if (const auto* either = dyn_cast<AbstractConditionalOperator>(expression)) {
    return merged(of_address(either->getTrueExpr()), of_address(either->getFalseExpr()));
  }
  if (const auto* list = dyn_cast<InitListExpr>(expression)) {
    return list->getNumInits() == 1 ? of_address(list->getInit(0)) : origin{};
  }
  return {};
}

origin origins::of_object(const Expr* expression) const {
  expression = unwrapped(expression);
  if (const auto* unary = dyn_cast<UnaryOperator>(expression)) {
    return unary->getOpcode() == UO_Deref ? of_address(unary->getSubExpr()) : origin{};
  }
  if (const auto* call = dyn_cast<CallExpr>(expression)) {
    return call->isGLValue() ? of_call(call) : origin{};
  }
  if (const auto* member = dyn_cast<MemberExpr>(expression)) {
    if (!isa<FieldDecl>(member->getMemberDecl())) return {};
    if (member->getMemberDecl()->getType()->isReferenceType()) return {};
    const Expr* const base = member->getBase();
    return as_inner(member->isArrow() ? of_address(base) : of_object(base));
  }
  if (const auto* element = dyn_cast<ArraySubscriptExpr>(expression)) {
    return as_inner(of_address(element->getBase()));
  }
  if (const auto* named = dyn_cast<DeclRefExpr>(expression)) {
    const auto* variable = dyn_cast<VarDecl>(named->getDecl());
    return variable != nullptr && variable->getType()->isReferenceType() ? of_address(named)
                                                                         : origin{};
  }
  if (const auto* either = dyn_cast<AbstractConditionalOperator>(expression)) {
    return merged(of_object(either->getTrueExpr()), of_object(either->getFalseExpr()));
  }
  if (const auto* cast = dyn_cast<CastExpr>(expression); cast != nullptr && cast->isGLValue()) {
    return of_object(cast->getSubExpr());
  }
  return {};
}

origin origins::of_value(QualType type, const Expr* initializer) const {
  if (initializer == nullptr || type.isNull()) return {};
  if (type->isReferenceType()) {
    // To a pointer: what a temporary or a variable of pointer type holds.
    return type->getPointeeType()->isPointerType() ? of_address(initializer)
                                                   : of_object(initializer);
  }
  return type->isPointerType() ? of_address(initializer) : origin{};
}

bool origins::is_from_guides_only(const Expr* expression) const {
  const Expr* at = unwrapped(expression);
  while (const auto* cast = dyn_cast<CastExpr>(at)) at = unwrapped(cast->getSubExpr());
  if (const auto* named = dyn_cast<DeclRefExpr>(at)) {
    const auto found = locals_.find(dyn_cast<VarDecl>(named->getDecl()));
    return found != locals_.end() && found->second.from_guide && !found->second.from_elsewhere;
  }
  return of_address(expression).kind == origin::whole;
}

bool origins::add(const VarDecl* variable, origin found) {
  local_origin& known = locals_[variable];
  if (!found) {
    known.from_elsewhere = true;
    return false;
  }
  if (found.kind <= known.from_guide.kind) return false;
  known.from_guide = found;
  return true;
}

struct learner : code_visitor<learner> {
  explicit learner(origins& into) : known(into) {}

  bool VisitVarDecl(VarDecl* variable) {
    if (variable->getInit() != nullptr && variable->hasLocalStorage()) {
      learn(variable, variable->getType(), variable->getInit());
    }
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* assignment) {
    if (assignment->getOpcode() != BO_Assign) return true;
    const auto* named = dyn_cast<DeclRefExpr>(target_of(assignment->getLHS()));
    const auto* variable = named == nullptr ? nullptr : dyn_cast<VarDecl>(named->getDecl());
    if (variable != nullptr && variable->hasLocalStorage() &&
        variable->getType()->isPointerType()) {
      learn(variable, variable->getType(), assignment->getRHS());
    }
    return true;
  }
  void learn(const VarDecl* variable, QualType type, const Expr* value) {
    // Null is nobody's address.
    if (type->isPointerType() &&
        value->isNullPointerConstant(variable->getASTContext(), Expr::NPC_ValueDependentIsNull)) {
      return;
    }
    has_changed |= known.add(variable, known.of_value(type, value));
  }

  origins& known;
  bool has_changed = false;
};

void origins::learn(const Stmt* body) {
  for (bool has_changed = true; has_changed;) {
    for (auto& [variable, known] : locals_) known.from_elsewhere = false;
    learner round(*this);
    round.TraverseStmt(const_cast<Stmt*>(body));
    has_changed = round.has_changed;
  }
}

/// Finds out whether a function returns an address.
struct return_finder : RecursiveASTVisitor<return_finder> {
  return_finder(const FunctionDecl* of, const origins& with) : function(of), known(with) {}
  bool TraverseLambdaExpr(LambdaExpr*) { return true; }
  bool VisitReturnStmt(ReturnStmt* result) {
    found |= static_cast<bool>(known.of_value(function->getReturnType(), result->getRetValue()));
    return true;
  }
  const FunctionDecl* function;
  const origins& known;
  bool found = false;
};

/// Whether the body of `function` returns an address of a guide's object; `own`: what `this` points
/// to in it.
static bool body_returns_address(const FunctionDecl* function, const returning_functions& returning,
                                 origin own) {
  origins known(returning, own);
  known.learn(outermost(function)->getBody());
  return_finder look(function, known);
  look.TraverseStmt(function->getBody());
  return look.found;
}

bool returns_address(const FunctionDecl* function, const returning_functions& returning) {
  return !is_entry(function) && returns_memory(function) &&
         body_returns_address(function, returning, {});
}

bool returning_functions::gives_part(const CXXMethodDecl* method) const {
  if (!returns_memory(method)) return false;
  if (is_in_namespace(method, "std")) {
    // The others keep their elements elsewhere.
    return llvm::is_contained({"array", "optional", "basic_string"},
                              method->getParent()->getName());
  }
  const FunctionDecl* const definition = method->getDefinition();
  if (definition == nullptr) return true;
  if (!definition->hasBody()) return false;  // is the compiler's
  const auto [place, is_new] = gives_part_.try_emplace(method->getCanonicalDecl(), false);
  if (!is_new) return place->second;
  const bool gives = body_returns_address(definition, *this, {origin::whole, nullptr});
  gives_part_[method->getCanonicalDecl()] = gives;
  return gives;
}

}  // namespace isotherm::compiler
