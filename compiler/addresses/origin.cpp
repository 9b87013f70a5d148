#include "addresses/origin.hpp"

#include "addresses/calls.hpp"
#include "addresses/carrying.hpp"
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
    if (const auto* default_of = dyn_cast<CXXDefaultArgExpr>(expression)) {
      expression = default_of->getExpr();
    }
    if (const auto* default_of = dyn_cast<CXXDefaultInitExpr>(expression);
        default_of != nullptr && default_of->getExpr() != nullptr) {
      expression = default_of->getExpr();
    }
    if (const auto* opaque = dyn_cast<OpaqueValueExpr>(expression);
        opaque != nullptr && opaque->getSourceExpr() != nullptr) {
      expression = opaque->getSourceExpr();
    }
    if (const auto* rewritten = dyn_cast<CXXRewrittenBinaryOperator>(expression)) {
      expression = rewritten->getSemanticForm();
    }
    if (const auto* as_is = dyn_cast<ImplicitCastExpr>(expression);
        as_is != nullptr && as_is->getCastKind() == CK_NoOp) {
      expression = as_is->getSubExpr();
    }
  }
  return expression;
}

/// The object whose element or part `to` is, by what a class of std does; null: it is none.
static const Expr* around(const Expr* to) {
  if (const auto* call = dyn_cast<CallExpr>(to)) {
    const FunctionDecl* const callee = call->getDirectCallee();
    if (callee == nullptr || standing_of(callee) != standing::transparent) return nullptr;
    const auto arguments = arguments_of(call);
    return arguments.empty() ? nullptr : arguments.front().value;
  }
  if (const auto* cast = dyn_cast<CastExpr>(to)) {
    const bool is_to_base =
        cast->getCastKind() == CK_DerivedToBase || cast->getCastKind() == CK_UncheckedDerivedToBase;
    return is_to_base || isa<CXXFunctionalCastExpr>(cast) ? cast->getSubExpr() : nullptr;
  }
  if (const auto* made = dyn_cast<CXXConstructExpr>(to)) {
    return stands_for_others(made->getType()) && made->getNumArgs() > 0 ? made->getArg(0) : nullptr;
  }
  const auto* member = dyn_cast<MemberExpr>(to);
  return member != nullptr && is_in_namespace(member->getMemberDecl(), "std") ? member->getBase()
                                                                              : nullptr;
}

const Expr* target_of(const Expr* to) {
  llvm::SmallPtrSet<const VarDecl*, 4> seen;
  for (;;) {
    to = unwrapped(to);
    if (const Expr* whole = around(to)) {
      to = whole;
      continue;
    }
    const auto* named = dyn_cast<DeclRefExpr>(to);
    const auto* variable = named == nullptr ? nullptr : dyn_cast<VarDecl>(named->getDecl());
    if (variable == nullptr || isa<ParmVarDecl>(variable) || variable->getInit() == nullptr) {
      return to;
    }
    const QualType type = variable->getType();
    const bool is_another =
        type->isReferenceType() || (variable->hasLocalStorage() && stands_for_others(type));
    if (!is_another || !seen.insert(variable).second) return to;
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

origin merged(origin a, origin b) {
  if (!a || !b) return a ? a : b;
  origin both = a.kind >= b.kind ? a : b;
  if (both.guide == nullptr) both.guide = a.guide != nullptr ? a.guide : b.guide;
  if (a.object != b.object) both.object = {};
  both.is_made = a.is_made && b.is_made;
  return both;
}

static origin as_inner(origin found) {
  if (found) found.kind = origin::inner;
  return found;
}

static QualType object_type(QualType type) {
  return target_type(type).getCanonicalType().getUnqualifiedType();
}

origin as_given_by(QualType type, origin found) {
  if (!found || !may_carry(type, found.object)) return {};
  if (!found.object.isNull() && object_type(type) != found.object) return as_inner(found);
  return found;
}

origins::origins(const functions& all, const ParmVarDecl* asked, QualType object)
    : functions_(all), asks_(true) {
  const origin question{origin::whole, asked, object.isNull() ? object : object_type(object),
                        false};
  if (asked == nullptr) {
    own_ = question;
  } else {
    locals_[asked] = {question, false, false, false, nullptr};
  }
}

/// Whether a pointer or a reference of this type leads to the object itself, and not to what holds
/// the address.
static bool leads_directly(QualType type, const origin& found) {
  const QualType target = target_type(type);
  return !target->isPointerType() && is_part_of(target, found.object);
}

origin origins::of(const Expr* expression) const {
  if (expression->isPRValue()) return of_address(expression);
  const origin place = of_object(expression);
  if (place) return place;
  return may_carry(expression->getType(), {}) ? of_address(expression) : origin{};
}

origin origins::of_runtime_call(const CallExpr* call) const {
  const FunctionDecl* const callee = call->getDirectCallee();
  const QualType type = call->getType();
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  if (method == nullptr) {
    if (callee->getIdentifier() == nullptr || callee->getName() != "make") return {};
    return {origin::whole, nullptr, object_type(type), true};
  }
  const QualType of = QualType(method->getParent()->getTypeForDecl(), 0);
  if (!returns_memory(method) || is_marked(call->getType())) return {};
  if (!is_marked(of) && method->getParent()->getName() != "pinned") return {};
  const Expr* const held = arguments_of(call).front().value;
  const auto* name = method->getIdentifier();
  // An object that a guide without a name held, as std::exchange(from, nullptr) returns it, belongs
  // to no guide.
  const bool is_made = is_marked(of) && (unwrapped(held)->isPRValue() ||
                                         (name != nullptr && name->getName() == "release"));
  return {origin::whole, is_made ? nullptr : guide_named(held), object_type(type), is_made};
}

origin origins::of_call(const CallExpr* call) const {
  const FunctionDecl* const callee = call->getDirectCallee();
  if (callee != nullptr && is_in_namespace(callee, "isotherm")) {
    return asks_ ? origin{} : of_runtime_call(call);
  }
  const QualType type = call->getCallReturnType(functions_.context());
  if (!may_carry(type, {})) return {};
  origin found = of_result(call, type);
  if (asks_ || callee == nullptr) return found;
  if (functions_.returns(callee) || calls_a_returning_lambda(call, functions_)) {
    found = merged(found, {origin::whole, nullptr, object_type(type), false});
  } else if (functions_.makes(callee)) {
    found = merged(found, {origin::whole, nullptr, object_type(type), true});
  }
  return found;
}

/// Returns the origin that the result of `call`, of this type, takes from the call's arguments.
origin origins::of_result(const Expr* call, QualType type) const {
  const FunctionDecl* const callee = callee_of(call);
  origin found;
  for (const argument& each : arguments_of(call)) {
    origin given = origin_of(each, callee, *this);
    if (!given) continue;
    const callee_kind kind = kind_of_callee(call, each.index, functions_);
    if (kind == callee_kind::seen && !functions_.of(callee, each.index).is_returned) continue;
    if (kind == callee_kind::standard && each.index == functions::kThis &&
        has_its_elements_elsewhere(each.value->getType()) && of_object(each.value)) {
      continue;  // the elements are no part of the object
    }
    found = merged(found, as_given_by(type, given));
  }
  return found;
}

origin origins::of_construction(const CXXConstructExpr* made) const {
  if (is_in_namespace(made->getConstructor(), "isotherm")) return {};
  if (!may_carry(made->getType(), {})) return {};
  if (made->getConstructor()->isCopyOrMoveConstructor() && made->getNumArgs() > 0) {
    // A copy takes the address that the argument holds, not the argument's own.
    return of_object(made->getArg(0)) ? origin{} : of_address(made->getArg(0));
  }
  return of_result(made, made->getType());
}

bool reinterprets(const CastExpr* cast) {
  const QualType target = target_type(cast->getType());
  return isa<ExplicitCastExpr>(cast) && !target->isVoidType() && !target->isAnyCharacterType() &&
         !target->isStdByteType() &&
         (cast->getCastKind() == CK_BitCast || cast->getCastKind() == CK_LValueBitCast);
}

origin origins::of_cast(const CastExpr* cast) const {
  const Expr* const inside = cast->getSubExpr();
  switch (cast->getCastKind()) {
    case CK_ArrayToPointerDecay:
      return as_inner(of_object(inside));
    case CK_LValueToRValue:
      // A pointer that lies in an object and leads elsewhere is no address of it.
      return of_object(inside) ? origin{} : of_address(inside);
    case CK_LValueToRValueBitCast:
    case CK_NonAtomicToAtomic:
    case CK_PointerToIntegral:
    case CK_PointerToBoolean:
    case CK_ToVoid:
      return {};
    case CK_BitCast:
      if (reinterprets(cast)) return {};
      return of_address(inside);
    default:
      return of_address(inside);
  }
}

origin origins::of_capture(const LambdaExpr* lambda) const {
  origin found;
  for (const LambdaCapture& capture : lambda->captures()) {
    if (capture.capturesThis()) found = merged(found, own_);
    if (!capture.capturesVariable()) continue;
    const auto* variable = dyn_cast<VarDecl>(capture.getCapturedVar());
    if (variable == nullptr) continue;
    // A capture by copy makes another object of the one that a reference is bound to.
    if (variable->getType()->isReferenceType() && capture.getCaptureKind() == LCK_ByCopy &&
        leads_directly(variable->getType(), of_variable(variable))) {
      continue;
    }
    found = merged(found, of_variable(variable));
  }
  return found;
}

/// Returns the origin of a value in braces, or of the std::initializer_list that a constructor of
/// std gets. Addresses that fields and elements get are stored there.
origin origins::of_list(const InitListExpr* list, bool is_passed) const {
  if (list->getSemanticForm() != nullptr) list = list->getSemanticForm();
  const bool is_scalar = !list->getType()->isRecordType() && !list->getType()->isArrayType();
  origin found;
  if (!is_scalar && !is_passed) return found;
  for (const Expr* each : list->inits()) found = merged(found, of_address(each));
  return found;
}

origin origins::of_named(const DeclRefExpr* named) const {
  if (const auto* variable = dyn_cast<VarDecl>(named->getDecl())) return of_variable(variable);
  const auto* bound = dyn_cast<BindingDecl>(named->getDecl());
  if (bound == nullptr) return {};
  if (const VarDecl* by_get = bound->getHoldingVar()) {
    return of_value(by_get->getType(), by_get->getInit());
  }
  return bound->getBinding() == nullptr ? origin{} : of(bound->getBinding());
}

/// Returns the origin of a member of an object that holds an address.
origin origins::of_member(const MemberExpr* member) const {
  if (!isa<FieldDecl>(member->getMemberDecl())) return {};
  const origin held = of_address(member->getBase());
  if (!held || !may_carry(member->getType(), held.object)) return {};
  const QualType base = member->getBase()->getType();
  if (member->isArrow() && leads_directly(base, held)) return {};
  return !member->isArrow() && of_object(member->getBase()) ? origin{} : held;
}

/// An operator of the language.
origin origins::of_operator(const Expr* expression) const {
  if (const auto* unary = dyn_cast<UnaryOperator>(expression)) {
    const Expr* const of = unary->getSubExpr();
    switch (unary->getOpcode()) {
      case UO_AddrOf:
        return of_object(of);
      case UO_Deref: {
        const origin held = of_address(of);
        return held && !leads_directly(of->getType(), held) ? held : origin{};
      }
      default:
        return unary->isIncrementDecrementOp() || unary->getOpcode() == UO_Extension ||
                       unary->getOpcode() == UO_Plus
                   ? of_address(of)
                   : origin{};
    }
  }
  if (const auto* binary = dyn_cast<BinaryOperator>(expression)) {
    if (binary->getOpcode() == BO_Comma) return of_address(binary->getRHS());
    if (!binary->getType()->isPointerType()) return {};
    const origin both = merged(of_address(binary->getLHS()), of_address(binary->getRHS()));
    if (binary->isAssignmentOp()) return both;
    return binary->isAdditiveOp() ? as_inner(both) : origin{};
  }
  const auto* either = cast<AbstractConditionalOperator>(expression);
  return merged(of_address(either->getTrueExpr()), of_address(either->getFalseExpr()));
}

/// The value of the last statement of a statement expression; null: it has none.
static const Expr* last_of(const StmtExpr* statements) {
  const CompoundStmt* const body = statements->getSubStmt();
  return body->body_empty() ? nullptr : dyn_cast<Expr>(body->body_back());
}

origin origins::of_address(const Expr* expression) const {
  expression = unwrapped(expression);
  if (const auto* cast = dyn_cast<CastExpr>(expression)) return of_cast(cast);
  if (isa<CXXThisExpr>(expression)) return own_;
  if (const auto* named = dyn_cast<DeclRefExpr>(expression)) return of_named(named);
  if (const auto* call = dyn_cast<CallExpr>(expression)) return of_call(call);
  if (const auto* made = dyn_cast<CXXConstructExpr>(expression)) return of_construction(made);
  if (const auto* member = dyn_cast<MemberExpr>(expression)) return of_member(member);
  if (const auto* lambda = dyn_cast<LambdaExpr>(expression)) return of_capture(lambda);
  if (const auto* list = dyn_cast<InitListExpr>(expression)) return of_list(list, false);
  if (const auto* list = dyn_cast<CXXStdInitializerListExpr>(expression)) {
    const auto* const elements = dyn_cast<InitListExpr>(unwrapped(list->getSubExpr()));
    return elements == nullptr ? origin{} : of_list(elements, true);
  }
  if (const auto* statements = dyn_cast<StmtExpr>(expression)) {
    const Expr* const last = last_of(statements);
    return last == nullptr ? origin{} : of(last);
  }
  if (isa<UnaryOperator, BinaryOperator, AbstractConditionalOperator>(expression)) {
    return of_operator(expression);
  }
  return {};
}

origin origins::of_object(const Expr* expression) const {
  expression = unwrapped(expression);
  if (!expression->isGLValue()) return {};
  if (const auto* unary = dyn_cast<UnaryOperator>(expression)) {
    if (unary->getOpcode() != UO_Deref) return of_object(unary->getSubExpr());
    const origin found = of_address(unary->getSubExpr());
    return found && leads_directly(unary->getSubExpr()->getType(), found) ? found : origin{};
  }
  if (const auto* call = dyn_cast<CallExpr>(expression)) {
    const origin found = of_call(call);
    const QualType type = call->getCallReturnType(functions_.context());
    return found && leads_directly(type, found) ? found : origin{};
  }
  if (const auto* member = dyn_cast<MemberExpr>(expression)) {
    if (!isa<FieldDecl>(member->getMemberDecl())) return {};
    if (member->getMemberDecl()->getType()->isReferenceType()) return {};
    const Expr* const base = member->getBase();
    if (!member->isArrow()) return as_inner(of_object(base));
    const origin found = of_address(base);
    return found && leads_directly(base->getType(), found) ? as_inner(found) : origin{};
  }
  if (const auto* element = dyn_cast<ArraySubscriptExpr>(expression)) {
    return as_inner(of_address(element->getBase()));
  }
  if (const auto* named = dyn_cast<DeclRefExpr>(expression)) {
    if (const auto* bound = dyn_cast<BindingDecl>(named->getDecl())) {
      return bound->getHoldingVar() == nullptr && bound->getBinding() != nullptr
                 ? of_object(bound->getBinding())
                 : of_named(named);
    }
    const origin found = of_named(named);
    const QualType type = named->getDecl()->getType();
    return found && type->isReferenceType() && leads_directly(type, found) ? found : origin{};
  }
  if (const auto* either = dyn_cast<AbstractConditionalOperator>(expression)) {
    return merged(of_object(either->getTrueExpr()), of_object(either->getFalseExpr()));
  }
  if (const auto* binary = dyn_cast<BinaryOperator>(expression)) {
    if (binary->getOpcode() == BO_Comma) return of_object(binary->getRHS());
    if (binary->getOpcode() == BO_PtrMemD) return as_inner(of_object(binary->getLHS()));
    if (binary->getOpcode() == BO_PtrMemI) return as_inner(of_address(binary->getLHS()));
    return {};
  }
  if (const auto* cast = dyn_cast<CastExpr>(expression)) return of_object(cast->getSubExpr());
  return {};
}

origin origins::of_value(QualType type, const Expr* initializer) const {
  if (initializer == nullptr || type.isNull() || !may_carry(type, {})) return {};
  if (!type->isReferenceType()) {
    // A copy of an object is another one.
    if (initializer->isGLValue() && of_object(initializer)) return {};
    return of_address(initializer);
  }
  return of(initializer);
}

const VarDecl* origins::variable_read(const Expr* expression) {
  expression = unwrapped(expression);
  while (const auto* cast = dyn_cast<CastExpr>(expression)) {
    expression = unwrapped(cast->getSubExpr());
  }
  const auto* named = dyn_cast<DeclRefExpr>(target_of(expression));
  const auto* variable = named == nullptr ? nullptr : dyn_cast<VarDecl>(named->getDecl());
  return variable != nullptr && variable->hasLocalStorage() ? variable : nullptr;
}

bool origins::is_from_guides_only(const Expr* expression) const {
  if (const VarDecl* variable = variable_read(expression)) {
    const local_origin known = local(variable);
    return known.from_guide && !known.from_guide.is_made && !known.from_elsewhere;
  }
  const origin found = of_address(expression);
  return found.kind == origin::whole && !found.is_made;
}

}  // namespace isotherm::compiler
