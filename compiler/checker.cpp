#include "checker.hpp"

#include "addresses/origin.hpp"
#include "ast_facts.hpp"
#include "clang/AST/Attr.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "names.hpp"

namespace isotherm::compiler {

using namespace clang;

namespace {

std::string quoted(const NamedDecl* declaration) {
  return "'" + declaration->getNameAsString() + "'";
}

class checker : public code_visitor<checker> {
 public:
  /// `function`: null where an initializer outside of functions is looked at.
  checker(const FunctionDecl* function, complaints& complain, const options& chosen)
      : function_(function), complain_(complain), options_(chosen) {}

  bool uses_guides() const { return uses_guides_; }
  const CallExpr* jump() const { return jump_; }
  void look_at(const Stmt* code) { TraverseStmt(const_cast<Stmt*>(code)); }

  bool VisitExpr(Expr* expression) {
    uses_guides_ |= is_marked(expression->getType());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* unary);
  bool VisitCastExpr(CastExpr* cast);
  bool VisitVarDecl(VarDecl* variable);
  bool VisitCallExpr(CallExpr* call);
  bool VisitCXXConstructExpr(CXXConstructExpr* made);

 private:
  llvm::SmallVector<FixItHint, 1> as_pointer(const VarDecl* variable) const;
  void check_reference_argument(const FunctionDecl* callee, unsigned index, const Expr* argument);
  void check_untouched(const FunctionDecl* callee, SourceRange where);

  const FunctionDecl* function_;
  complaints& complain_;
  const options& options_;
  bool uses_guides_ = false;
  const CallExpr* jump_ = nullptr;
};

/// `callee` is called, or gives its address.
void checker::check_untouched(const FunctionDecl* callee, SourceRange where) {
  if (function_ == nullptr || !has_annotation(function_, kUntouched)) return;
  if (!has_annotation(callee, kTouch)) return;
  complain_.error(where,
                  quoted(function_) + " is marked [[isotherm::untouched]], and uses a guide");
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
  }
  return true;
}

bool checker::VisitCastExpr(CastExpr* cast) {
  const Expr* const inside = cast->getSubExpr();
  if (isa<ExplicitCastExpr>(cast) &&
      (cast->getCastKind() == CK_BitCast || cast->getCastKind() == CK_LValueBitCast)) {
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
  return {FixItHint::CreateReplacement(
      type, complain_.in_place_of(type, complain_.text_of(object) + "*"))};
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

/// Whether a function of the system or of std takes its argument `index` for bytes.
static bool takes_bytes(const FunctionDecl* callee, unsigned index) {
  if (callee->getIdentifier() == nullptr || index >= callee->getNumParams()) return false;
  const QualType target = callee->getParamDecl(index)->getType()->getPointeeType();
  if (target.isNull() ||
      !(target->isVoidType() || target->isAnyCharacterType() || target->isStdByteType())) {
    return false;
  }
  // These hand their argument on to a thread, or keep it for one.
  if (llvm::is_contained({"pthread_create", "pthread_setspecific"}, callee->getName())) {
    return false;
  }
  const SourceManager& sources = callee->getASTContext().getSourceManager();
  return callee->getBuiltinID() != 0 || callee->getLocation().isInvalid() ||
         sources.isInSystemHeader(callee->getLocation());
}

bool checker::VisitCallExpr(CallExpr* call) {
  const FunctionDecl* const callee = call->getDirectCallee();
  if (callee == nullptr) return true;
  check_untouched(callee, call->getSourceRange());
  if (is_jump(callee)) jump_ = call;
  if (isa<CXXOperatorCallExpr>(call)) return true;
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    check_reference_argument(callee, i, call->getArg(i));
    const CXXRecordDecl* const record = bytes_with_guides(call->getArg(i));
    if (record != nullptr && takes_bytes(callee, i)) {
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
  if (is_marked(made->getType())) return true;
  for (unsigned i = 0; i < made->getNumArgs(); ++i) {
    check_reference_argument(constructor, i, made->getArg(i));
  }
  return true;
}

}  // namespace

void check_function(const FunctionDecl* function, complaints& complain, const options& chosen) {
  checker look(function, complain, chosen);
  look.look_at(function->getBody());
  if (const auto* constructor = dyn_cast<CXXConstructorDecl>(function)) {
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

void check_initializer(const Expr* value, complaints& complain, const options& chosen) {
  checker(nullptr, complain, chosen).look_at(value);
}

}  // namespace isotherm::compiler
