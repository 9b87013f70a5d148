#include "addresses/flow.hpp"

#include "addresses/carrying.hpp"
#include "addresses/flow_visitor.hpp"
#include "clang/AST/Attr.h"
#include "clang/AST/StmtCXX.h"

namespace isotherm::compiler {

using namespace clang;

std::string quoted(const NamedDecl* declaration) {
  return "'" + declaration->getNameAsString() + "'";
}

std::string name_of_called(const FunctionDecl* callee) {
  if (callee == nullptr) return "a function that is called through a pointer";
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  return method != nullptr && method->getParent()->isLambda() ? "a lambda" : quoted(callee);
}

std::string source_of(const origin& found) {
  if (found.guide == nullptr && found.is_made) return "isotherm::make()";
  if (isa_and_nonnull<ParmVarDecl>(found.guide)) return "the parameter " + quoted(found.guide);
  return complaints::named(found.guide);
}

namespace {

/// Returns the declaration that `memory` names; null: it names none.
const ValueDecl* named_by(const Expr* memory) {
  if (const auto* named = dyn_cast<DeclRefExpr>(memory)) return named->getDecl();
  const auto* member = dyn_cast<MemberExpr>(memory);
  return member == nullptr ? nullptr : member->getMemberDecl();
}

/// The array or pointer of which `memory` is an element, at any depth.
const Expr* base_of(const Expr* memory) {
  for (;;) {
    memory = memory->IgnoreParenCasts();
    if (const auto* element = dyn_cast<ArraySubscriptExpr>(memory)) {
      memory = element->getBase();
    } else if (const auto* unary = dyn_cast<UnaryOperator>(memory);
               unary != nullptr && unary->getOpcode() == UO_Deref) {
      memory = unary->getSubExpr();
    } else {
      return memory;
    }
  }
}

/// How `declaration`, which no function has for itself, is called; empty: it is another one.
std::string name_of_shared(const ValueDecl* declaration) {
  if (isa_and_nonnull<FieldDecl>(declaration)) {
    return "the field " + quoted(declaration) + ", which is not marked";
  }
  const auto* variable = dyn_cast_or_null<VarDecl>(declaration);
  if (variable == nullptr || !variable->hasGlobalStorage()) return "";
  return (variable->isFileVarDecl() ? "the global variable " : "the static variable ") +
         quoted(variable);
}

/// Whether a statement, which is no expression, may have one as its part that gives an address.
bool is_listed_statement(const Stmt* parent) {
  return isa<CompoundStmt, DeclStmt, ReturnStmt, IfStmt, WhileStmt, DoStmt, ForStmt,
             CXXForRangeStmt, SwitchStmt, SwitchCase, LabelStmt, AttributedStmt>(parent);
}

bool is_listed_cast(const CastExpr* cast) {
  switch (cast->getCastKind()) {
    case CK_LValueToRValue:
    case CK_PointerToBoolean:
    case CK_ToVoid:
    case CK_UserDefinedConversion:
    case CK_ConstructorConversion:
    case CK_PointerToIntegral:  // is refused by itself
      return true;
    default:
      return false;
  }
}

}  // namespace

bool flow::refuse(SourceRange where, const origin& found, const std::string& text,
                  llvm::ArrayRef<FixItHint> fixes) {
  if (answer_ == nullptr) {
    complain_.error(where, text, dyn_cast_or_null<FieldDecl>(found.guide), fixes);
  } else if (!answer_->is_kept) {
    answer_->is_kept = true;
    answer_->where = where.getBegin();
  }
  return true;
}

void flow::refuse_store(SourceRange where, const origin& found, const std::string& place,
                        const std::string& hint) {
  if (answer_ != nullptr && !answer_->is_stored) {
    answer_->is_stored = true;
    answer_->is_kept = false;  // this place is the one to show
  }
  refuse(where, found,
         "the address that " + source_of(found) + " gives is stored in " + place +
             ", where it outlives its scope" + hint);
}

void flow::warn(SourceRange where, const origin& found, const std::string& who,
                const std::string& hint) {
  if (answer_ != nullptr) {
    answer_->may_be_kept = true;
    if (!answer_->is_kept) answer_->where = where.getBegin();
  } else if (options_.warns_kept) {
    complain_.say(DiagnosticsEngine::Warning, where,
                  who + " may keep the address that " + source_of(found) + " gives: " + hint +
                      " [-Wisotherm-kept]");
  }
}

void flow::look_at(const Stmt* code) {
  kept_.add(code);
  TraverseStmt(const_cast<Stmt*>(code));
}

bool flow::TraverseStmt(Stmt* statement) {
  if (statement == nullptr) return true;
  around_.push_back(statement);
  const bool goes_on = code_visitor::TraverseStmt(statement);
  around_.pop_back();
  return goes_on;
}

bool flow::TraverseLambdaExpr(LambdaExpr* lambda) {
  lambdas_.push_back(lambda);
  const bool goes_on = code_visitor::TraverseLambdaExpr(lambda);
  lambdas_.pop_back();
  return goes_on;
}

/// Whether an address may be `used` in `parent`, which does not lead to it any more.
bool flow::is_listed(const Stmt* parent, const Expr* used) const {
  if (parent == nullptr) return true;
  if (!isa<Expr>(parent)) return is_listed_statement(parent);
  // The visitor looks at such expressions by themselves.
  if (isa<CallExpr, CXXConstructExpr, InitListExpr, CXXParenListInitExpr, CXXDeleteExpr,
          LambdaExpr>(parent)) {
    return true;
  }
  if (isa<UnaryExprOrTypeTraitExpr, CXXTypeidExpr, CXXNoexceptExpr, MemberExpr,
          CXXRewrittenBinaryOperator>(parent)) {
    return true;
  }
  if (const auto* cast = dyn_cast<CastExpr>(parent)) {
    return is_listed_cast(cast) || reinterprets(cast) || closure_of(used->getType()) != nullptr;
  }
  if (const auto* unary = dyn_cast<UnaryOperator>(parent)) {
    return unary->getOpcode() == UO_LNot || unary->isIncrementDecrementOp();
  }
  // A comparison, a difference, and an assignment, which is looked at by itself.
  return isa<BinaryOperator>(parent);
}

bool flow::VisitExpr(Expr* expression) {
  const origin found = known_.of(expression);
  if (!found) return true;
  const Stmt* const parent = around_.size() < 2 ? nullptr : around_[around_.size() - 2];
  if (const auto* use = dyn_cast_or_null<Expr>(parent); use != nullptr && known_.of(use)) {
    return true;
  }
  if (is_listed(parent, expression)) return true;
  return refuse(expression->getSourceRange(), found,
                "the address that " + source_of(found) +
                    " gives is used in a way that is not followed: use the object's members, or "
                    "keep it in local variables");
}

/// Describes `to`, where target_of() has led, if it may outlive the scope; empty: it is a local
/// variable.
std::string flow::lasting_place(const Expr* to) const {
  const ValueDecl* const target = named_by(to);
  const auto* variable = dyn_cast_or_null<VarDecl>(target);
  if (variable == nullptr || variable->hasGlobalStorage()) {
    const std::string name = name_of_shared(target != nullptr ? target : named_by(base_of(to)));
    return name.empty() ? "memory that others may read" : name;
  }
  if (variable->getType()->isReferenceType()) {
    return quoted(variable) + ", which is the caller's";
  }
  for (const LambdaExpr* lambda : lambdas_) {
    if (kept_.is_left(lambda->getLambdaClass()) &&
        !lambda->getLambdaClass()->Encloses(variable->getDeclContext())) {
      return quoted(variable) + ", which is not the lambda's";
    }
  }
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(function_);
  if (answer_ != nullptr && method != nullptr && method->getParent()->isLambda() &&
      !method->getParent()->Encloses(variable->getDeclContext())) {
    return quoted(variable) + ", which is not the lambda's";
  }
  return "";
}

/// `value` is assigned to `to`.
void flow::check_store(const Expr* to, const Expr* value, SourceRange where) {
  const origin found = known_.of_value(to->getType(), value);
  if (!found) return;
  const std::string place = lasting_place(target_of(to));
  if (!place.empty()) refuse_store(where, found, place);
}

/// `value` initializes `in`, a variable or a field that is not a local one.
void flow::check_stored(const ValueDecl* in, const Expr* value) {
  const origin found = known_.of_value(in->getType(), value);
  if (!found) return;
  refuse_store(isa<VarDecl>(in) ? in->getSourceRange() : value->getSourceRange(), found,
               name_of_shared(in));
}

/// A function that returns an address is called where a scope is open, which is known of calls by
/// its name alone.
bool flow::VisitDeclRefExpr(DeclRefExpr* named) {
  const auto* function = dyn_cast<FunctionDecl>(named->getDecl());
  if (answer_ != nullptr || function == nullptr || callees_.contains(named) ||
      !known_.known_functions().returns(function)) {
    return true;
  }
  complain_.error(named->getSourceRange(),
                  quoted(function) +
                      " returns the address that a guide gives: called through a pointer it has "
                      "a scope of its own, which ends before");
  return true;
}

void flow::check_arithmetic(const Expr* pointer, SourceRange where) {
  const origin found = known_.of_address(pointer);
  if (found.kind != origin::whole || answer_ != nullptr) return;
  refuse(where, found,
         "arithmetic on the address that " + source_of(found) +
             " gives: it is one object, not an array");
}

bool flow::VisitBinaryOperator(BinaryOperator* binary) {
  const SourceRange where = binary->getSourceRange();
  if (binary->getOpcode() == BO_Assign) {
    check_store(binary->getLHS(), binary->getRHS(), where);
  } else if (binary->isAdditiveOp() || binary->getOpcode() == BO_AddAssign ||
             binary->getOpcode() == BO_SubAssign) {
    for (const Expr* side : {binary->getLHS(), binary->getRHS()}) {
      if (side->getType()->isPointerType()) check_arithmetic(side, where);
    }
  }
  return true;
}

bool flow::VisitUnaryOperator(UnaryOperator* unary) {
  if (unary->isIncrementDecrementOp() && unary->getType()->isPointerType()) {
    check_arithmetic(unary->getSubExpr(), unary->getSourceRange());
  }
  return true;
}

bool flow::VisitArraySubscriptExpr(ArraySubscriptExpr* element) {
  const origin found = known_.of_address(element->getBase());
  if (found.kind == origin::whole && answer_ == nullptr) {
    refuse(
        element->getSourceRange(), found,
        "indexing the address that " + source_of(found) + " gives: it is one object, not an array");
  }
  return true;
}

/// `number` becomes `pointer`, to an object that may move. Constants are marks of a program's own.
void flow::check_number(const Expr* number, const Expr* pointer) {
  const functions& all = known_.known_functions();
  const QualType object = pointer->getType()->getPointeeType();
  if (answer_ != nullptr || !options_.warns_kept || number->isValueDependent()) return;
  if (object.isNull() || !all.is_held(object) || number->isEvaluatable(all.context())) return;
  complain_.say(DiagnosticsEngine::Warning, pointer->getSourceRange(),
                "a number becomes the address of " + complain_.name_of(object) +
                    ": if it is one that a guide gave, its object may have moved "
                    "[-Wisotherm-kept]");
}

bool flow::VisitCastExpr(CastExpr* cast) {
  const Expr* const inside = cast->getSubExpr();
  if (cast->getCastKind() == CK_PointerToIntegral) {
    if (const origin found = known_.of_address(inside)) {
      refuse(cast->getSourceRange(), found,
             "the address that " + source_of(found) +
                 " gives becomes a number, which does not change when the object moves");
    }
  } else if (cast->getCastKind() == CK_IntegralToPointer) {
    check_number(inside, cast);
  } else if (reinterprets(cast)) {
    const origin found =
        cast->getCastKind() == CK_BitCast ? known_.of_address(inside) : known_.of_object(inside);
    if (found) {
      refuse(cast->getSourceRange(), found,
             "the address that " + source_of(found) + " gives is reinterpreted as " +
                 complain_.name_of(cast->getType()));
    }
  }
  return true;
}

bool flow::VisitVarDecl(VarDecl* variable) {
  const Expr* const value = variable->getInit();
  if (value == nullptr || isa<ParmVarDecl>(variable)) return true;
  if (variable->hasGlobalStorage()) check_stored(variable, value);
  return true;
}

void flow::check_fields(const CXXRecordDecl* record, llvm::ArrayRef<Expr*> values) {
  unsigned index = record->getNumBases();
  for (const FieldDecl* field : record->fields()) {
    if (index >= values.size()) break;
    check_stored(field, values[index++]);
  }
}

bool flow::VisitInitListExpr(InitListExpr* list) {
  if (const CXXRecordDecl* const record = list->getType()->getAsCXXRecordDecl()) {
    if (!record->isUnion()) {
      check_fields(record, list->inits());
    } else if (list->getNumInits() == 1 && list->getInitializedFieldInUnion() != nullptr) {
      check_stored(list->getInitializedFieldInUnion(), list->getInit(0));
    }
    return true;
  }
  if (!list->getType()->isArrayType()) return true;
  for (const Stmt* outer : llvm::reverse(around_)) {
    if (isa<CXXStdInitializerListExpr>(outer)) return true;  // is looked at where it is passed
    if (!isa<InitListExpr, MaterializeTemporaryExpr, CastExpr>(outer)) break;
  }
  const QualType element = list->getType()->getAsArrayTypeUnsafe()->getElementType();
  for (const Expr* each : list->inits()) {
    const origin found = known_.of_value(element, each);
    if (found) refuse_store(each->getSourceRange(), found, "an element of an array");
  }
  return true;
}

bool flow::VisitCXXParenListInitExpr(CXXParenListInitExpr* list) {
  const CXXRecordDecl* const record = list->getType()->getAsCXXRecordDecl();
  if (record != nullptr && !record->isUnion()) {
    check_fields(record, list->getInitExprs());
    return true;
  }
  for (const Expr* each : list->getInitExprs()) {
    const origin found = known_.of_address(each);
    if (found) refuse_store(each->getSourceRange(), found, "an element of an array or a union");
  }
  return true;
}

void flow::check_initializers(const CXXConstructorDecl* constructor) {
  for (const CXXCtorInitializer* init : constructor->inits()) {
    if (!init->isAnyMemberInitializer() || init->getInit() == nullptr) continue;
    check_stored(init->getAnyMember(), init->getInit());
  }
}

/// `value` is returned by a function that may be called from anywhere.
void flow::check_returned(const Expr* value) {
  const QualType type = function_->getReturnType();
  const origin found = known_.of_value(type, value);
  if (!found || found.is_made) return;
  if (!type->isPointerType() && !type->isReferenceType()) {
    refuse(value->getSourceRange(), found,
           quoted(function_) + " returns " + complain_.name_of(type) + " with the address that " +
               source_of(found) +
               " gives, whose scope ends here: return a copy of the object, or mark the function "
               "[[isotherm::inside]]");
    return;
  }
  const std::string handle = "isotherm::pinned<" + complain_.text_of(type->getPointeeType()) + ">";
  llvm::SmallVector<FixItHint, 3> fixes;
  const SourceRange written = function_->getReturnTypeSourceRange();
  // The fix changes one declaration: a function with several gets none.
  const bool is_declared_once = function_->getFirstDecl() == function_;
  if (type->isPointerType() && written.isValid() && !function_->isTemplateInstantiation() &&
      !written.getBegin().isMacroID() && !type->getContainedAutoType() && is_declared_once) {
    fixes.push_back(FixItHint::CreateReplacement(written, complain_.in_place_of(written, handle)));
    fixes.push_back(FixItHint::CreateInsertion(value->getBeginLoc(), handle + "("));
    fixes.push_back(FixItHint::CreateInsertion(complain_.end_of(value->getEndLoc()), ")"));
  }
  refuse(value->getSourceRange(), found,
         quoted(function_) + " returns the address that " + source_of(found) +
             " gives, whose scope ends here: return " + handle +
             ", or mark the function [[isotherm::inside]]",
         fixes);
}

/// `value` is returned by a function that is called inside scopes, as far as its name goes.
void flow::check_returned_virtually(const Expr* value) {
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(function_);
  if (method == nullptr || !method->isVirtual()) return;
  const origin found = known_.of_value(method->getReturnType(), value);
  const CXXMethodDecl* const called = found ? called_outside_as(method) : nullptr;
  if (called == nullptr) return;
  refuse(value->getSourceRange(), found,
         quoted(method) + " returns the address that " + source_of(found) +
             " gives, and is called as '" + called->getQualifiedNameAsString() +
             "' where there may be no scope: mark that [[isotherm::inside]]");
}

bool flow::VisitReturnStmt(ReturnStmt* result) {
  const Expr* const value = result->getRetValue();
  if (value == nullptr) return true;
  if (answer_ != nullptr) {
    const QualType type = lambdas_.empty() ? function_->getReturnType() : value->getType();
    answer_->is_returned |= static_cast<bool>(known_.of_value(type, value));
    return true;
  }
  if (lambdas_.empty()) {
    if (is_entry(function_)) {
      check_returned(value);
    } else {
      check_returned_virtually(value);
    }
    return true;
  }
  if (!kept_.contains(lambdas_.back()->getLambdaClass())) return true;
  const QualType written = lambdas_.back()->getCallOperator()->getReturnType();
  // The type that a generic lambda returns depends on its parameters: the value's type counts.
  const origin found =
      known_.of_value(written->isDependentType() ? value->getType() : written, value);
  if (!found) return true;
  return refuse(result->getSourceRange(), found,
                "a lambda that is called from outside of scopes returns the address that " +
                    source_of(found) + " gives, whose scope ends here");
}

bool flow::VisitCXXDeleteExpr(CXXDeleteExpr* end) {
  const origin found = known_.of_address(end->getArgument());
  if (found.kind != origin::whole) return true;
  llvm::SmallVector<FixItHint, 2> fixes;
  if (!end->isArrayForm()) {
    const Expr* const ended = end->getArgument();
    const CharSourceRange keyword =
        CharSourceRange::getCharRange(end->getBeginLoc(), ended->getBeginLoc());
    fixes.push_back(FixItHint::CreateReplacement(keyword, "isotherm::discard("));
    fixes.push_back(FixItHint::CreateInsertion(complain_.end_of(ended->getEndLoc()), ")"));
  }
  return refuse(
      end->getSourceRange(), found,
      "the object of " + source_of(found) + " is ended by isotherm::discard(), not by 'delete'",
      fixes);
}

bool flow::VisitAttributedStmt(AttributedStmt* statement) {
  bool is_tail = false;
  for (const Attr* attribute : statement->getAttrs()) is_tail |= isa<MustTailAttr>(attribute);
  const auto* result = dyn_cast<ReturnStmt>(statement->getSubStmt());
  if (!is_tail || result == nullptr || result->getRetValue() == nullptr) return true;
  const auto* call = dyn_cast<CallExpr>(unwrapped(result->getRetValue()));
  for (unsigned i = 0; call != nullptr && i < call->getNumArgs(); ++i) {
    const Expr* const argument = call->getArg(i);
    const origin found = known_.of(argument);
    if (!found) continue;
    refuse(argument->getSourceRange(), found,
           "the scope closes before a 'musttail' call, which gets the address that " +
               source_of(found) + " gives");
  }
  return true;
}

void check_addresses(const FunctionDecl* function, const functions& all, complaints& complain,
                     const options& chosen) {
  origins known(all);
  known.expect_addresses(function);
  known.learn(function->getBody());
  flow look(function, known, complain, chosen, nullptr);
  look.look_at(function->getBody());
  const auto* const method = dyn_cast<CXXMethodDecl>(function);
  if (const auto* constructor = dyn_cast<CXXConstructorDecl>(function)) {
    look.check_initializers(constructor);
    for (const CXXCtorInitializer* init : constructor->inits()) look.look_at(init->getInit());
  }
  check_owners(function, known, complain, chosen);
  if (method == nullptr || method->isStatic() || method->getParent()->isLambda()) return;
  if (!all.is_held(QualType(method->getParent()->getTypeForDecl(), 0))) return;
  const passing own = all.of(method, functions::kThis);
  if (!own.is_stored) return;
  complain.error(own.where, "a " + quoted(method->getParent()) +
                                " keeps an address in itself, and marked fields point to such "
                                "objects, which move: that of its members changes then");
}

void check_addresses(const ValueDecl* of, const Expr* value, const functions& all,
                     complaints& complain, const options& chosen) {
  origins known(all);
  known.learn(value);
  flow look(nullptr, known, complain, chosen, nullptr);
  look.check_stored(of, value);
  look.look_at(value);
  const auto* const field = dyn_cast<FieldDecl>(of);
  if (field == nullptr) return;
  const QualType object(field->getParent()->getTypeForDecl(), 0);
  if (!all.is_held(object)) return;
  const origins own(all, nullptr, object);
  if (!own.of_value(field->getType(), value)) return;
  complain.error(value->getSourceRange(),
                 "a " + quoted(field->getParent()) +
                     " keeps an address in itself, and marked fields point to such objects, which "
                     "move: that of its members changes then");
}

void answer_question(const FunctionDecl* function, const origins& known, passing& answer) {
  complaints unused(function->getASTContext());
  const options none;
  flow look(function, known, unused, none, &answer);
  look.look_at(function->getBody());
  if (const auto* constructor = dyn_cast<CXXConstructorDecl>(function)) {
    look.check_initializers(constructor);
    for (const CXXCtorInitializer* init : constructor->inits()) look.look_at(init->getInit());
  }
}

}  // namespace isotherm::compiler
