#include "checker.hpp"

#include "ast_facts.hpp"
#include "clang/AST/Attr.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "names.hpp"

namespace isotherm::compiler {

using namespace clang;

namespace {

/// What `memory` names; null: it has no name.
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

std::string quoted(const NamedDecl* declaration) {
  return "'" + declaration->getNameAsString() + "'";
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

class checker : public code_visitor<checker> {
 public:
  /// `function`: null where an initializer outside of functions is looked at.
  checker(const FunctionDecl* function, const origins& known, const returning_functions& returning,
          complaints& complain, const options& chosen)
      : function_(function),
        known_(known),
        returning_(returning),
        complain_(complain),
        options_(chosen) {}

  bool uses_guides() const { return uses_guides_; }
  const CallExpr* jump() const { return jump_; }

  bool TraverseLambdaExpr(LambdaExpr* lambda) {
    lambdas_.push_back(lambda);
    const bool goes_on = code_visitor::TraverseLambdaExpr(lambda);
    lambdas_.pop_back();
    check_captures(lambda);
    return goes_on;
  }
  void look_at(const Stmt* code) {
    kept_.add(code);
    TraverseStmt(const_cast<Stmt*>(code));
  }

  bool VisitExpr(Expr* expression) {
    uses_guides_ |= is_marked(expression->getType());
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* binary);
  bool VisitUnaryOperator(UnaryOperator* unary);
  bool VisitArraySubscriptExpr(ArraySubscriptExpr* element);
  bool VisitCastExpr(CastExpr* cast);
  bool VisitVarDecl(VarDecl* variable);
  bool VisitInitListExpr(InitListExpr* list);
  bool VisitReturnStmt(ReturnStmt* result);
  bool VisitCallExpr(CallExpr* call);
  bool VisitCXXConstructExpr(CXXConstructExpr* made);
  bool VisitCXXDeleteExpr(CXXDeleteExpr* end);
  bool VisitAttributedStmt(AttributedStmt* statement);
  bool VisitDeclRefExpr(DeclRefExpr* named);
  void check_stored(const ValueDecl* in, const Expr* value);
  void check_initializers(const CXXConstructorDecl* constructor);

 private:
  llvm::SmallVector<FixItHint, 1> as_pointer(const VarDecl* variable) const;
  void check_captures(const LambdaExpr* lambda);
  void check_store(const Expr* to, const Expr* value, SourceRange where);
  void check_guide_gets(const Expr* value, const ValueDecl* guide);
  void check_reference_argument(const FunctionDecl* callee, unsigned index, const Expr* argument);
  void check_untouched(const FunctionDecl* callee, SourceRange where);
  void refuse_store(SourceRange where, origin found, const std::string& place);
  void check_returned(const Expr* value);
  void check_returned_virtually(const Expr* value);
  std::string lasting_place(const Expr* to) const;
  bool is_kept(const LambdaExpr* lambda) const { return kept_.contains(lambda->getLambdaClass()); }

  const FunctionDecl* function_;
  const origins& known_;
  const returning_functions& returning_;
  complaints& complain_;
  const options& options_;
  llvm::SmallVector<const LambdaExpr*, 4> lambdas_;  // around what is being looked at
  kept_lambdas kept_;
  llvm::SmallPtrSet<const Expr*, 16> callees_;
  bool uses_guides_ = false;
  const CallExpr* jump_ = nullptr;
};

void checker::refuse_store(SourceRange where, origin found, const std::string& place) {
  complain_.error(where,
                  "the address that " + complaints::named(found.guide) + " gives is stored in " +
                      place + ", where it outlives its scope",
                  found.guide);
}

/// What a kept lambda captures outlives the scope in which the lambda is made.
void checker::check_captures(const LambdaExpr* lambda) {
  if (!kept_.by_others.contains(lambda->getLambdaClass())) return;
  for (const LambdaCapture& capture : lambda->captures()) {
    if (!capture.capturesVariable()) continue;
    const auto* variable = dyn_cast<VarDecl>(capture.getCapturedVar());
    // By copy, of what a reference is bound to: the object is another one.
    if (variable == nullptr ||
        (variable->getType()->isReferenceType() && capture.getCaptureKind() == LCK_ByCopy)) {
      continue;
    }
    const origin found = known_.of_variable(variable);
    if (!found) continue;
    complain_.error(capture.getLocation(),
                    "the address that " + complaints::named(found.guide) +
                        " gives is captured by a lambda that is kept, where it outlives its "
                        "scope: capture the node",
                    found.guide);
  }
}

/// Where in memory `to` is, if that may outlive the scope; empty: in a local variable.
std::string checker::lasting_place(const Expr* to) const {
  to = target_of(to);
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
    if (is_kept(lambda) && !lambda->getLambdaClass()->Encloses(variable->getDeclContext())) {
      return quoted(variable) + ", which is not the lambda's";
    }
  }
  return "";
}

/// `value` is assigned to `to`.
void checker::check_store(const Expr* to, const Expr* value, SourceRange where) {
  const origin found = known_.of_value(to->getType(), value);
  if (!found) return;
  const std::string place = lasting_place(to);
  if (!place.empty()) refuse_store(where, found, place);
}

/// `value` initializes `in`, a variable or a field that is not a local one.
void checker::check_stored(const ValueDecl* in, const Expr* value) {
  const origin found = known_.of_value(in->getType(), value);
  if (!found) return;
  refuse_store(isa<VarDecl>(in) ? in->getSourceRange() : value->getSourceRange(), found,
               name_of_shared(in));
}

/// `callee` is called, or gives its address.
void checker::check_untouched(const FunctionDecl* callee, SourceRange where) {
  if (function_ == nullptr || !has_annotation(function_, kUntouched)) return;
  if (!has_annotation(callee, kTouch)) return;
  complain_.error(where,
                  quoted(function_) + " is marked [[isotherm::untouched]], and uses a guide");
}

/// A function that returns an address is called where a scope is open, which is known of calls by
/// its name alone.
bool checker::VisitDeclRefExpr(DeclRefExpr* named) {
  const auto* function = dyn_cast<FunctionDecl>(named->getDecl());
  if (function == nullptr || callees_.contains(named) || !returning_.contains(function)) {
    return true;
  }
  complain_.error(named->getSourceRange(),
                  quoted(function) +
                      " returns the address that a guide gives: called through a pointer it has "
                      "a scope of its own, which ends before");
  return true;
}

/// `value` becomes what `guide` points to.
void checker::check_guide_gets(const Expr* value, const ValueDecl* guide) {
  const Expr* const given = unwrapped(value)->IgnoreParenImpCasts();
  if (const auto* made = dyn_cast<CXXNewExpr>(given)) {
    const std::string type = made->getAllocatedType().getAsString();
    llvm::SmallVector<FixItHint, 3> fixes;
    const SourceRange name = made->getAllocatedTypeSourceInfo()->getTypeLoc().getSourceRange();
    if (!made->isArray() && made->getNumPlacementArgs() == 0 &&
        !made->getTypeIdParens().isValid()) {
      fixes.push_back(
          FixItHint::CreateReplacement(SourceRange(made->getBeginLoc(), name.getEnd()),
                                       "isotherm::make<" + complain_.text_of(name) + ">"));
      if (made->getInitializationStyle() == CXXNewInitializationStyle::Braces) {
        const SourceRange braces = made->getInitializer()->getSourceRange();
        fixes.push_back(FixItHint::CreateReplacement(braces.getBegin(), "("));
        fixes.push_back(FixItHint::CreateReplacement(braces.getEnd(), ")"));
      } else if (made->getInitializationStyle() == CXXNewInitializationStyle::None) {
        fixes.push_back(FixItHint::CreateInsertion(complain_.end_of(name.getEnd()), "()"));
      }
    }
    return complain_.error(
        made->getSourceRange(),
        complaints::named(guide) + " takes what isotherm::make<" + type + ">() makes, not 'new'",
        guide, fixes);
  }
  const origin found = known_.of_address(value);
  if (found.kind == origin::inner) {
    complain_.error(value->getSourceRange(),
                    complaints::named(guide) + " takes whole objects, not a part of the one that " +
                        complaints::named(found.guide) + " holds",
                    guide);
  } else if (found && known_.is_from_guides_only(value)) {
    complain_.error(value->getSourceRange(),
                    complaints::named(guide) + " would hold the object of " +
                        complaints::named(found.guide) +
                        " too, and an object moves with one guide: hand it over by "
                        "std::exchange(..., nullptr)",
                    guide);
  }
}

bool checker::VisitBinaryOperator(BinaryOperator* binary) {
  const SourceRange where = binary->getSourceRange();
  if (binary->getOpcode() == BO_Assign) {
    check_store(binary->getLHS(), binary->getRHS(), where);
    return true;
  }
  if (!binary->isAdditiveOp() && binary->getOpcode() != BO_AddAssign &&
      binary->getOpcode() != BO_SubAssign) {
    return true;
  }
  for (const Expr* side : {binary->getLHS(), binary->getRHS()}) {
    if (!side->getType()->isPointerType()) continue;
    const origin found = known_.of_address(side);
    if (found.kind != origin::whole) continue;
    complain_.error(where,
                    "arithmetic on the address that " + complaints::named(found.guide) +
                        " gives: it is one object, not an array",
                    found.guide);
    break;
  }
  return true;
}

bool checker::VisitUnaryOperator(UnaryOperator* unary) {
  if (unary->getOpcode() == UO_AddrOf) {
    const Expr* const object = unwrapped(unary->getSubExpr());
    const ValueDecl* const guide = guide_named(object);
    if (guide != nullptr) {
      complain_.error(unary->getSourceRange(),
                      "the address of " + complaints::named(guide) +
                          " is taken: a guide is not a pointer, and what points to it cannot "
                          "change it",
                      guide);
    }
  } else if (unary->isIncrementDecrementOp() && unary->getType()->isPointerType()) {
    const origin found = known_.of_address(unary->getSubExpr());
    if (found.kind == origin::whole) {
      complain_.error(unary->getSourceRange(),
                      "arithmetic on the address that " + complaints::named(found.guide) +
                          " gives: it is one object, not an array",
                      found.guide);
    }
  }
  return true;
}

bool checker::VisitArraySubscriptExpr(ArraySubscriptExpr* element) {
  const origin found = known_.of_address(element->getBase());
  if (found.kind == origin::whole) {
    complain_.error(element->getSourceRange(),
                    "indexing the address that " + complaints::named(found.guide) +
                        " gives: it is one object, not an array",
                    found.guide);
  }
  return true;
}

bool checker::VisitCastExpr(CastExpr* cast) {
  const Expr* const inside = cast->getSubExpr();
  if (cast->getCastKind() == CK_PointerToIntegral) {
    const origin found = known_.of_address(inside);
    if (found) {
      complain_.error(cast->getSourceRange(),
                      "the address that " + complaints::named(found.guide) +
                          " gives becomes a number, which does not change when the object moves",
                      found.guide);
    }
  } else if (isa<ExplicitCastExpr>(cast) &&
             (cast->getCastKind() == CK_BitCast || cast->getCastKind() == CK_LValueBitCast)) {
    const origin found =
        cast->getCastKind() == CK_BitCast ? known_.of_address(inside) : known_.of_object(inside);
    if (found && !cast->getType()->isVoidPointerType()) {
      complain_.error(cast->getSourceRange(),
                      "the address that " + complaints::named(found.guide) +
                          " gives is reinterpreted as '" + cast->getType().getAsString() + "'",
                      found.guide);
    }
    if (guide_named(inside) != nullptr) {
      const ValueDecl* const guide = guide_named(inside);
      complain_.error(cast->getSourceRange(),
                      complaints::named(guide) + " is reinterpreted: its bits are not an address",
                      guide);
    }
  }
  const CXXRecordDecl* to = cast->getType()->isPointerType()
                                ? cast->getType()->getPointeeType()->getAsCXXRecordDecl()
                                : nullptr;
  const auto* made = dyn_cast<CallExpr>(inside->IgnoreParenImpCasts());
  const FunctionDecl* const by = made == nullptr ? nullptr : made->getDirectCallee();
  if (options_.warns_malloc && isa<ExplicitCastExpr>(cast) && to != nullptr && by != nullptr &&
      by->getIdentifier() != nullptr && holds_marked(to) &&
      llvm::is_contained({"malloc", "calloc", "realloc", "aligned_alloc"}, by->getName())) {
    complain_.say(DiagnosticsEngine::Warning, cast->getSourceRange(),
                  "guides of " + quoted(to) + " in memory of '" + by->getNameAsString() +
                      "' are not constructed: use 'new', or placement new there "
                      "[-Wisotherm-malloc]");
  }
  return true;
}

/// Makes a pointer of `auto&`, which is bound to a guide. Not where other words stand before it.
llvm::SmallVector<FixItHint, 1> checker::as_pointer(const VarDecl* variable) const {
  const TypeSourceInfo* const written = variable->getTypeSourceInfo();
  const QualType object = pointee_of_marked(variable->getType().getNonReferenceType());
  if (written == nullptr || object.isNull() || function_ == nullptr ||
      function_->isTemplateInstantiation()) {
    return {};
  }
  const SourceRange type = written->getTypeLoc().getSourceRange();
  if (type.getBegin() != variable->getBeginLoc() || type.getBegin().isMacroID()) return {};
  const PrintingPolicy& as_written = variable->getASTContext().getPrintingPolicy();
  return {FixItHint::CreateReplacement(type, object.getAsString(as_written) + "*")};
}

bool checker::VisitVarDecl(VarDecl* variable) {
  const Expr* const value = variable->getInit();
  if (value == nullptr || isa<ParmVarDecl>(variable)) return true;
  const ValueDecl* const guide =
      variable->getType()->isReferenceType() ? guide_named(value) : nullptr;
  if (guide != nullptr && !variable->isCXXForRangeDecl()) {
    complain_.error(
        variable->getSourceRange(),
        "a reference is bound to " + complaints::named(guide) + ": a guide is not a pointer", guide,
        as_pointer(variable));
  }
  if (variable->hasGlobalStorage()) check_stored(variable, value);
  return true;
}

bool checker::VisitInitListExpr(InitListExpr* list) {
  const CXXRecordDecl* const record = list->getType()->getAsCXXRecordDecl();
  if (record == nullptr || record->isUnion()) return true;
  unsigned index = record->getNumBases();
  for (const FieldDecl* field : record->fields()) {
    if (index >= list->getNumInits()) break;
    check_stored(field, list->getInit(index++));
  }
  return true;
}

void checker::check_initializers(const CXXConstructorDecl* constructor) {
  for (const CXXCtorInitializer* init : constructor->inits()) {
    if (!init->isAnyMemberInitializer() || init->getInit() == nullptr) continue;
    check_stored(init->getAnyMember(), init->getInit());
  }
}

/// `value` is returned by a function that may be called from anywhere.
void checker::check_returned(const Expr* value) {
  const QualType type = function_->getReturnType();
  const origin found = known_.of_value(type, value);
  if (!found) return;
  const std::string handle = "isotherm::pinned<" + type->getPointeeType().getAsString() + ">";
  llvm::SmallVector<FixItHint, 3> fixes;
  const SourceRange written = function_->getReturnTypeSourceRange();
  // Of a function that is declared elsewhere, too, both would have to change.
  const bool is_declared_once = function_->getFirstDecl() == function_;
  if (type->isPointerType() && written.isValid() && !function_->isTemplateInstantiation() &&
      !written.getBegin().isMacroID() && !type->getContainedAutoType() && is_declared_once) {
    fixes.push_back(FixItHint::CreateReplacement(written, handle));
    fixes.push_back(FixItHint::CreateInsertion(value->getBeginLoc(), handle + "("));
    fixes.push_back(FixItHint::CreateInsertion(complain_.end_of(value->getEndLoc()), ")"));
  }
  complain_.error(value->getSourceRange(),
                  quoted(function_) + " returns the address that " +
                      complaints::named(found.guide) + " gives, whose scope ends here: return " +
                      handle + ", or mark the function [[isotherm::inside]]",
                  found.guide, fixes);
}

/// `value` is returned by a function that is called inside scopes, as far as its name goes.
void checker::check_returned_virtually(const Expr* value) {
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(function_);
  if (method == nullptr || !method->isVirtual()) return;
  const origin found = known_.of_value(method->getReturnType(), value);
  const CXXMethodDecl* const called = found ? called_outside_as(method) : nullptr;
  if (called == nullptr) return;
  complain_.error(value->getSourceRange(),
                  quoted(method) + " returns the address that " + complaints::named(found.guide) +
                      " gives, and is called as '" + called->getQualifiedNameAsString() +
                      "' where there may be no scope: mark that [[isotherm::inside]]",
                  found.guide);
}

bool checker::VisitReturnStmt(ReturnStmt* result) {
  if (lambdas_.empty()) {
    if (is_entry(function_)) {
      check_returned(result->getRetValue());
    } else {
      check_returned_virtually(result->getRetValue());
    }
    return true;
  }
  const Expr* const value = result->getRetValue();
  if (!is_kept(lambdas_.back()) || value == nullptr) return true;
  const QualType written = lambdas_.back()->getCallOperator()->getReturnType();
  // Of a generic lambda it is that of each instance.
  const origin found =
      known_.of_value(written->isDependentType() ? value->getType() : written, value);
  if (!found) return true;
  complain_.error(result->getSourceRange(),
                  "a lambda that is called from outside of scopes returns the address that " +
                      complaints::named(found.guide) + " gives, whose scope ends here",
                  found.guide);
  return true;
}

/// A guide that is handed over by reference to something that does not know what it is.
void checker::check_reference_argument(const FunctionDecl* callee, unsigned index,
                                       const Expr* argument) {
  const ValueDecl* const guide = guide_named(argument);
  if (guide == nullptr || index >= callee->getNumParams()) return;
  if (!callee->getParamDecl(index)->getType()->isReferenceType()) return;
  if (is_in_namespace(callee, "isotherm")) return;
  if (is_std(callee, {"exchange", "swap", "move", "forward", "as_const"})) return;
  complain_.error(argument->getSourceRange(),
                  complaints::named(guide) + " is passed by reference to " + quoted(callee) +
                      ": a guide is not a pointer",
                  guide);
}

bool checker::VisitCallExpr(CallExpr* call) {
  callees_.insert(call->getCallee()->IgnoreParenImpCasts());
  const FunctionDecl* const callee = call->getDirectCallee();
  if (callee == nullptr) return true;
  check_untouched(callee, call->getSourceRange());
  if (is_jump(callee)) jump_ = call;
  if (const auto* assigned = dyn_cast<CXXOperatorCallExpr>(call);
      assigned != nullptr && assigned->getOperator() == OO_Equal &&
      is_marked(assigned->getArg(0)->getType())) {
    check_guide_gets(assigned->getArg(1), guide_named(assigned->getArg(0)));
    return true;
  }
  if (isa<CXXOperatorCallExpr>(call)) return true;
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    check_reference_argument(callee, i, call->getArg(i));
    const CXXRecordDecl* const record = bytes_with_guides(call->getArg(i));
    if (record != nullptr && callee->getIdentifier() != nullptr &&
        llvm::is_contained({"memcpy", "memmove", "memset", "bcopy", "bzero", "realloc", "free",
                            "__builtin_memcpy", "__builtin_memmove", "__builtin_memset"},
                           callee->getName())) {
      complain_.error(call->getSourceRange(), "'" + callee->getNameAsString() + "' treats a " +
                                                  quoted(record) +
                                                  ", which holds guides, as bytes");
    }
  }
  return true;
}

bool checker::VisitCXXConstructExpr(CXXConstructExpr* made) {
  const CXXConstructorDecl* const constructor = made->getConstructor();
  check_untouched(constructor, made->getSourceRange());
  if (is_marked(made->getType())) {
    if (made->getNumArgs() == 1 && constructor->getParamDecl(0)->getType()->isPointerType()) {
      check_guide_gets(made->getArg(0), nullptr);
    }
    return true;
  }
  for (unsigned i = 0; i < made->getNumArgs(); ++i) {
    check_reference_argument(constructor, i, made->getArg(i));
  }
  return true;
}

bool checker::VisitCXXDeleteExpr(CXXDeleteExpr* end) {
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
  complain_.error(end->getSourceRange(),
                  "the object of " + complaints::named(found.guide) +
                      " is ended by isotherm::discard(), not by 'delete'",
                  found.guide, fixes);
  return true;
}

bool checker::VisitAttributedStmt(AttributedStmt* statement) {
  bool is_tail = false;
  for (const Attr* attribute : statement->getAttrs()) is_tail |= isa<MustTailAttr>(attribute);
  const auto* result = dyn_cast<ReturnStmt>(statement->getSubStmt());
  if (!is_tail || result == nullptr || result->getRetValue() == nullptr) return true;
  const auto* call = dyn_cast<CallExpr>(unwrapped(result->getRetValue()));
  for (unsigned i = 0; call != nullptr && i < call->getNumArgs(); ++i) {
    const Expr* const argument = call->getArg(i);
    const origin found =
        argument->isGLValue() ? known_.of_object(argument) : known_.of_address(argument);
    if (!found) continue;
    complain_.error(argument->getSourceRange(),
                    "the scope closes before a 'musttail' call, which gets the address that " +
                        complaints::named(found.guide) + " gives",
                    found.guide);
  }
  return true;
}

}  // namespace

void check_function(const FunctionDecl* function, const returning_functions& returning,
                    complaints& complain, const options& chosen) {
  origins known(returning);
  known.learn(function->getBody());
  checker look(function, known, returning, complain, chosen);
  look.look_at(function->getBody());
  if (const auto* constructor = dyn_cast<CXXConstructorDecl>(function)) {
    look.check_initializers(constructor);
    for (const CXXCtorInitializer* init : constructor->inits()) {
      look.look_at(init->getInit());
    }
  }
  if (look.uses_guides() && isa<CoroutineBodyStmt>(function->getBody())) {
    complain.error(function->getLocation(),
                   "the coroutine " + quoted(function) +
                       " uses guides: a scope cannot stay open while it is suspended");
  }
  if (look.jump() == nullptr) return;
  const std::string name = look.jump()->getDirectCallee()->getNameAsString();
  if (look.uses_guides()) {
    complain.error(look.jump()->getSourceRange(),
                   "'" + name + "' in a function that uses guides: a jump leaves its scope open");
  } else if (chosen.warns_longjmp && llvm::StringRef(name).contains("longjmp")) {
    complain.say(DiagnosticsEngine::Warning, look.jump()->getSourceRange(),
                 "'" + name +
                     "' may jump out of a scope, which then stays open "
                     "[-Wisotherm-longjmp]");
  }
}

void check_initializer(const ValueDecl* of, const Expr* value, const returning_functions& returning,
                       complaints& complain, const options& chosen) {
  origins known(returning);
  known.learn(value);
  checker look(nullptr, known, returning, complain, chosen);
  look.check_stored(of, value);
  look.look_at(value);
}

}  // namespace isotherm::compiler
