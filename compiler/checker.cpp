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
  bool VisitCXXNewExpr(CXXNewExpr* made);
  bool VisitCXXDeleteExpr(CXXDeleteExpr* end);
  void report_lost();

 private:
  llvm::SmallVector<FixItHint, 1> as_pointer(const VarDecl* variable) const;
  void check_reference_argument(const FunctionDecl* callee, unsigned index, const Expr* argument);
  void check_untouched(const FunctionDecl* callee, SourceRange where);
  void check_text(const CallExpr* call, const FunctionDecl* callee);
  void lose(SourceRange where, const Expr* memory, const std::string& how);

  const FunctionDecl* function_;
  complaints& complain_;
  const options& options_;
  bool uses_guides_ = false;
  const CallExpr* jump_ = nullptr;
  /// Nodes whose memory is used otherwise, which needs their destructor to be called before.
  llvm::SmallVector<std::pair<SourceRange, std::string>, 1> lost_;
  bool may_destroy_nodes_ = false;  // also by other functions of the program
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

/// Whether `callee` takes memory back, of which nothing is used any more.
static bool takes_back(const FunctionDecl* callee) {
  const OverloadedOperatorKind by = callee->getOverloadedOperator();
  if (by == OO_Delete || by == OO_Array_Delete) return true;
  return callee->getIdentifier() != nullptr && callee->getName() == "free";
}

/// Whether `of` names a node, or an array of nodes, that the program made as such.
static bool names_object(const Expr* of) {
  of = unwrapped(of);
  if (!holds_marked(of->getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl())) return false;
  if (const auto* element = dyn_cast<ArraySubscriptExpr>(of)) {
    const auto* array = dyn_cast<CastExpr>(unwrapped(element->getBase()));
    return array != nullptr && array->getCastKind() == CK_ArrayToPointerDecay &&
           names_object(array->getSubExpr());
  }
  if (isa<MemberExpr>(of)) return true;
  const auto* named = dyn_cast<DeclRefExpr>(of);
  return named != nullptr && !named->getDecl()->getType()->isReferenceType();
}

/// Whether `place` points to such a node, and not just to memory for one.
static bool is_object(const Expr* place) {
  place = unwrapped(place);
  while (const auto* cast = dyn_cast<CastExpr>(place)) {
    if (cast->getCastKind() == CK_ArrayToPointerDecay) return names_object(cast->getSubExpr());
    place = unwrapped(cast->getSubExpr());
  }
  if (isa<CXXThisExpr>(place)) return true;
  if (const auto* call = dyn_cast<CallExpr>(place)) {
    return is_std(call->getDirectCallee(), {"addressof"}) && names_object(call->getArg(0));
  }
  const auto* taken = dyn_cast<UnaryOperator>(place);
  return taken != nullptr && taken->getOpcode() == UO_AddrOf && names_object(taken->getSubExpr());
}

void checker::lose(SourceRange where, const Expr* memory, const std::string& how) {
  const CXXRecordDecl* const node = bytes_with_guides(memory);
  if (node == nullptr) return;
  lost_.emplace_back(where, "the memory of a " + quoted(node) + ", which holds guides, " + how +
                                " before its destructor is called");
}

void checker::report_lost() {
  if (may_destroy_nodes_) return;
  for (const auto& [where, text] : lost_) complain_.error(where, text);
}

bool checker::VisitCXXNewExpr(CXXNewExpr* made) {
  const FunctionDecl* const by = made->getOperatorNew();
  if (by == nullptr || !by->isReservedGlobalPlacementOperator()) return true;
  const Expr* const place = made->getPlacementArg(0);
  const CXXRecordDecl* const node = bytes_with_guides(place);
  // A pointer to memory that is to become a node has the node's type, too.
  const bool makes_node = node == made->getAllocatedType()->getAsCXXRecordDecl();
  if (!makes_node || is_object(place)) {
    lose(made->getSourceRange(), place, "is used for another object");
  }
  return true;
}

bool checker::VisitCXXDeleteExpr(CXXDeleteExpr* end) {
  const CXXRecordDecl* const ended =
      end->getArgument()->getType()->getPointeeType()->getAsCXXRecordDecl();
  const auto* const destructor =
      ended != nullptr && ended->hasDefinition() ? ended->getDestructor() : nullptr;
  if (holds_marked(ended) || (destructor != nullptr && destructor->isVirtual())) return true;
  lose(end->getSourceRange(), end->getArgument(), "is given back");
  return true;
}

/// The object whose address a text has may move before it is read.
void checker::check_text(const CallExpr* call, const FunctionDecl* callee) {
  const auto reads_pointer = [](const Expr* argument) {
    const auto* text = dyn_cast<StringLiteral>(argument->IgnoreParenImpCasts());
    return text != nullptr && text->isOrdinary() && text->getString().contains("%p");
  };
  const bool by_stream =
      callee->getOverloadedOperator() == OO_GreaterGreater && is_in_namespace(callee, "std") &&
      callee->getNumParams() == 1 &&
      callee->getParamDecl(0)->getType().getNonReferenceType()->isVoidPointerType();
  const bool by_format = callee->getIdentifier() != nullptr &&
                         callee->getName().contains("scanf") &&
                         llvm::any_of(call->arguments(), reads_pointer);
  if (!options_.warns_kept || !(by_stream || by_format)) return;
  complain_.say(DiagnosticsEngine::Warning, call->getSourceRange(),
                quoted(callee) +
                    " reads an address from text: if it is one that a guide gave, "
                    "its object may have moved [-Wisotherm-kept]");
}

/// Whether `call` may call a node's destructor.
static bool may_destroy_nodes(const CallExpr* call) {
  const FunctionDecl* const callee = call->getDirectCallee();
  if (callee == nullptr) return true;
  if (is_in_namespace(callee, "isotherm")) return false;
  if (is_in_namespace(callee, "std")) {
    return llvm::StringRef(callee->getQualifiedNameAsString()).contains("destroy");
  }
  const SourceManager& sources = callee->getASTContext().getSourceManager();
  return callee->getLocation().isValid() && !sources.isInSystemHeader(callee->getLocation()) &&
         callee->getBuiltinID() == 0;
}

bool checker::VisitCallExpr(CallExpr* call) {
  may_destroy_nodes_ |= may_destroy_nodes(call);
  const FunctionDecl* const callee = call->getDirectCallee();
  if (callee == nullptr) return true;
  check_untouched(callee, call->getSourceRange());
  check_text(call, callee);
  if (is_jump(callee)) jump_ = call;
  if (isa<CXXOperatorCallExpr>(call)) return true;
  if (is_std(callee, {"construct_at"}) && is_object(call->getArg(0))) {
    lose(call->getSourceRange(), call->getArg(0), "is used for another object");
  }
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    check_reference_argument(callee, i, call->getArg(i));
    if (takes_back(callee)) {
      lose(call->getSourceRange(), call->getArg(i), "is given back");
      continue;
    }
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
  look.report_lost();
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
