// Addresses in the local variables of a function.
#include "addresses/calls.hpp"
#include "addresses/carrying.hpp"
#include "addresses/origin.hpp"
#include "ast_facts.hpp"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "names.hpp"

namespace isotherm::compiler {

using namespace clang;

bool origins::add(const VarDecl* variable, origin found) {
  local_origin& known = locals_[variable];
  if (!found || found.is_made) known.from_elsewhere = true;
  if (!found) return false;
  const origin joined = merged(known.from_guide, found);
  if (joined == known.from_guide) return false;
  known.from_guide = joined;
  return true;
}

/// A marked field points to what `variable` holds: from here on a guide holds it.
bool origins::give(const VarDecl* variable, const ValueDecl* to) {
  local_origin& known = locals_[variable];
  known.from_elsewhere = true;
  if (known.is_given) return false;
  known.is_given = true;
  const QualType object = target_type(variable->getType().getNonReferenceType());
  const QualType held = object.getCanonicalType().getUnqualifiedType();
  if (!known.from_guide) known.from_guide = {origin::whole, to, held, false};
  if (known.from_guide.guide == nullptr) known.from_guide.guide = to;
  known.from_guide.is_made = false;
  return true;
}

namespace {

/// Whether `value` is a pointer that stays where it is read from, which is no local variable.
bool stays_in_memory(const Expr* value) {
  if (origins::variable_read(value) != nullptr) return false;
  value = unwrapped(value);
  while (const auto* cast = dyn_cast<CastExpr>(value)) {
    if (cast->getCastKind() == CK_LValueToRValue) return !is_marked(cast->getSubExpr()->getType());
    value = unwrapped(cast->getSubExpr());
  }
  return false;
}

/// Whether `call` returns what the program's own functions, or smart pointers, have from elsewhere.
bool returns_other_memory(const CallExpr* call, unsigned depth) {
  const FunctionDecl* const callee = call->getDirectCallee();
  if (callee == nullptr || is_in_namespace(callee, "isotherm")) return false;
  if (const auto* method = dyn_cast<CXXMemberCallExpr>(call)) {
    const llvm::StringRef of = std_class(method->getObjectType());
    if (llvm::is_contained({"unique_ptr", "shared_ptr", "__shared_ptr"}, of)) {
      return is_std(callee, {"get", "release"});
    }
  }
  if (callee->getIdentifier() != nullptr &&
      llvm::is_contained({"malloc", "calloc", "aligned_alloc"}, callee->getName())) {
    return true;
  }
  struct finder : RecursiveASTVisitor<finder> {
    bool TraverseLambdaExpr(LambdaExpr*) { return true; }
    bool VisitReturnStmt(ReturnStmt* result) {
      const Expr* const value = result->getRetValue();
      return value == nullptr || not_made(value, depth + 1) == nullptr;
    }
    unsigned depth;
  };
  const auto* const method = dyn_cast<CXXMethodDecl>(callee);
  const FunctionDecl* const definition = callee->getDefinition();
  if (definition == nullptr || !definition->hasBody()) return false;
  if (method != nullptr && method->isVirtual()) return false;
  finder look;
  look.depth = depth;
  return !look.TraverseStmt(definition->getBody());
}

}  // namespace

const Expr* not_made(const Expr* value, unsigned depth) {
  constexpr unsigned kDeepest = 6;
  value = unwrapped(value)->IgnoreParenImpCasts();
  if (isa<CXXNewExpr>(value)) return value;
  if (const auto* unary = dyn_cast<UnaryOperator>(value)) {
    if (unary->getOpcode() != UO_AddrOf) return nullptr;
    // An object that another function dereferences may have been made.
    const bool is_own = depth == 0 || isa<DeclRefExpr, MemberExpr>(unwrapped(unary->getSubExpr()));
    return is_own ? value : nullptr;
  }
  if (const auto* either = dyn_cast<AbstractConditionalOperator>(value)) {
    const Expr* const first = not_made(either->getTrueExpr(), depth);
    return first != nullptr ? first : not_made(either->getFalseExpr(), depth);
  }
  const auto* call = dyn_cast<CallExpr>(unwrapped(value->IgnoreParenCasts()));
  return call != nullptr && depth < kDeepest && returns_other_memory(call, depth) ? call : nullptr;
}

struct learner : code_visitor<learner> {
  explicit learner(origins& into) : known(into) {}

  bool VisitVarDecl(VarDecl* variable) {
    if (variable->getInit() != nullptr && variable->hasLocalStorage() &&
        !isa<ParmVarDecl>(variable)) {
      learn(variable, variable->getType(), variable->getInit());
    }
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* assignment) {
    if (assignment->getOpcode() == BO_Assign) assign(assignment->getLHS(), assignment->getRHS());
    return true;
  }
  bool VisitCallExpr(CallExpr* call) {
    if (const auto* of_class = dyn_cast<CXXOperatorCallExpr>(call);
        of_class != nullptr && of_class->getOperator() == OO_Equal) {
      const Expr* const to = of_class->getArg(0);
      if (is_marked(to->getType())) give(of_class->getArg(1), guide_named(to));
      if (const VarDecl* variable = rebound_by(call)) {
        learn(variable, variable->getType(), of_class->getArg(1));
      } else {
        assign(to, of_class->getArg(1));
      }
    }
    if (is_exchange(call)) give(call->getArg(1), guide_named(call->getArg(0)));
    return look_at(call);
  }
  bool VisitCXXConstructExpr(CXXConstructExpr* made) {
    if (is_marked(made->getType()) && made->getNumArgs() == 1) give(made->getArg(0), nullptr);
    return look_at(made);
  }
  bool VisitLambdaExpr(LambdaExpr* lambda) {
    if (known.asks()) return true;
    for (const FunctionDecl* each : callables_of(lambda)) {
      for (const ParmVarDecl* parameter : each->parameters()) expect(parameter);
    }
    return true;
  }

 private:
  /// A lambda may be called with objects, where its parameter is for one.
  void expect(const ParmVarDecl* parameter) {
    const QualType type = parameter->getType();
    const QualType object = target_type(type).getCanonicalType().getUnqualifiedType();
    if (!type->isPointerType() && !type->isReferenceType()) return;
    if (!known.known_functions().is_held(object)) return;
    has_changed |= known.add(parameter, {origin::whole, nullptr, object, false});
  }
  bool look_at(const Expr* call) {
    for (const sink& each : sinks_of(call, known)) {
      if (const VarDecl* variable = origins::variable_read(each.to)) {
        has_changed |= known.add(variable, each.found);
      }
    }
    const FunctionDecl* const callee = callee_of(call);
    known.discards_ |= is_discard(callee);
    for (const argument& each : arguments_of(call)) {
      if (callee == nullptr || is_in_namespace(callee, "isotherm")) continue;
      const VarDecl* variable = origins::variable_read(each.value);
      if (variable != nullptr && variable->getType()->isPointerType() &&
          kind_of_callee(call, each.index, known.known_functions()) == callee_kind::seen &&
          known.known_functions().of(callee, each.index).is_given) {
        has_changed |= known.give(variable, nullptr);
      }
    }
    if (callee == nullptr || !is_in_namespace(callee, "std")) return true;
    hand_to_lambdas(call, callee);
    return true;
  }
  /// A function of std calls lambdas with what it gets.
  void hand_to_lambdas(const Expr* call, const FunctionDecl* callee) {
    const auto arguments = arguments_of(call);
    origin found;
    for (const argument& each : arguments) {
      if (closure_of(each.value->getType()) == nullptr) {
        found = merged(found, origin_of(each, callee, known));
      }
    }
    if (!found) return;
    for (const argument& each : arguments) {
      if (closure_of(each.value->getType()) == nullptr) continue;
      for (const FunctionDecl* called : callables_of(each.value)) {
        for (const ParmVarDecl* parameter : called->parameters()) {
          const origin given = as_given_by(parameter->getType(), found);
          if (given) has_changed |= known.add(parameter, given);
        }
      }
    }
  }
  void assign(const Expr* to, const Expr* value) {
    const auto* named = dyn_cast<DeclRefExpr>(target_of(to));
    const auto* variable = named == nullptr ? nullptr : dyn_cast<VarDecl>(named->getDecl());
    if (variable != nullptr && variable->hasLocalStorage()) {
      learn(variable, variable->getType().getNonReferenceType(), value);
    }
  }
  void give(const Expr* value, const ValueDecl* to) {
    if (const VarDecl* variable = origins::variable_read(value)) {
      has_changed |= known.give(variable, to);
    }
  }
  /// `bound`: what gets `value`; of a reference that has been bound, what it refers to.
  void learn(const VarDecl* variable, QualType bound, const Expr* value) {
    const QualType type = variable->getType();
    // Null is nobody's address.
    if (type->isPointerType() &&
        value->isNullPointerConstant(variable->getASTContext(), Expr::NPC_ValueDependentIsNull)) {
      return;
    }
    if (type->isPointerType()) {
      local_origin& own = known.locals_[variable];
      own.from_memory |= stays_in_memory(value);
      if (own.not_made == nullptr) own.not_made = not_made(value);
      const VarDecl* const copied = origins::variable_read(value);
      if (copied != nullptr && copied->getType()->isPointerType()) copy(variable, copied);
    }
    has_changed |= known.add(variable, known.of_value(bound, value));
  }
  /// Both hold the same object: what is made of the one is made of the other.
  void copy(const VarDecl* to, const VarDecl* from) {
    if (known.local(to).is_given) has_changed |= known.give(from, known.of_variable(to).guide);
    if (known.local(from).is_given) has_changed |= known.give(to, known.of_variable(from).guide);
    if (known.local(from).from_memory) known.locals_[to].from_memory = true;
    if (known.local(to).not_made == nullptr) {
      const Expr* const not_made_there = known.local(from).not_made;
      known.locals_[to].not_made = not_made_there;
    }
  }

  origins& known;

 public:
  bool has_changed = false;
};

void origins::learn(const Stmt* body) {
  for (bool has_changed = true; has_changed;) {
    learner round(*this);
    round.TraverseStmt(const_cast<Stmt*>(body));
    has_changed = round.has_changed;
  }
}

void origins::expect_addresses(const FunctionDecl* function) {
  const bool is_said = has_annotation(function, kSaid);
  if (standing_of(function) != standing::inside) return;
  for (const ParmVarDecl* parameter : function->parameters()) {
    const QualType type = parameter->getType();
    const QualType object = target_type(type).getCanonicalType().getUnqualifiedType();
    const bool is_whole = functions_.is_held(object) && object != type;
    const bool may_be =
        is_said && may_carry(type, {}) && !holds_marked(object->getAsCXXRecordDecl());
    if (!is_whole && !may_be) continue;
    locals_[parameter].from_elsewhere = true;
    add(parameter, {is_whole ? origin::whole : origin::inner, parameter, object, true});
  }
}

namespace {

/// Finds what a function returns.
struct return_finder : RecursiveASTVisitor<return_finder> {
  return_finder(const FunctionDecl* of, const origins& with) : function(of), known(with) {}
  bool TraverseLambdaExpr(LambdaExpr*) { return true; }
  bool VisitReturnStmt(ReturnStmt* result) {
    found = merged(found, known.of_value(function->getReturnType(), result->getRetValue()));
    return true;
  }
  const FunctionDecl* function;
  const origins& known;
  origin found;
};

}  // namespace

origin returned_by(const FunctionDecl* function, const functions& all) {
  if (!may_carry(function->getReturnType(), {})) return {};
  origins known(all);
  known.learn(outermost(function)->getBody());
  return_finder look(function, known);
  look.TraverseStmt(function->getBody());
  return look.found;
}

}  // namespace isotherm::compiler
