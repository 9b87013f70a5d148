// Addresses that are passed to functions.
#include "addresses/carrying.hpp"
#include "addresses/flow_visitor.hpp"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/StmtCXX.h"

namespace isotherm::compiler {

using namespace clang;

namespace {

/// Describes the forbidden use that a function of std makes of an address; empty: it makes none.
std::string misuse_by_std(const FunctionDecl* callee, QualType type) {
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const auto is_of = [&](std::initializer_list<llvm::StringRef> classes) {
    return method != nullptr && method->getParent()->getIdentifier() != nullptr &&
           llvm::is_contained(classes, method->getParent()->getName());
  };
  const bool is_construction = isa<CXXConstructorDecl>(callee);
  const bool takes_over = is_construction || is_std(callee, {"reset"});
  if (type->isPointerType() &&
      (is_of({"default_delete"}) || (takes_over && is_of({"unique_ptr", "shared_ptr"})))) {
    return "which ends the object by 'delete': isotherm::discard() ends it";
  }
  if (is_std(callee, {"destroy_at", "destroy", "destroy_n", "construct_at"})) {
    return "which makes or ends objects: isotherm::make() and isotherm::discard() do";
  }
  if (is_std(callee, {"bit_cast"}) || (is_of({"hash"}) && type->isPointerType())) {
    return "which makes a number of it that does not change when the object moves";
  }
  if (is_std(callee, {"async"}) || (is_construction && is_of({"thread", "jthread"}))) {
    return "which keeps it for a thread that nobody waits for here";
  }
  return "";
}

bool is_thread(const Expr* made) {
  return isa<CXXConstructExpr>(made) &&
         llvm::is_contained({"thread", "jthread"}, std_class(made->getType()));
}

/// Finds threads whose ends are waited for by the function that makes them, and the variables of
/// threads that it may hand on: what is done with them is more than to wait, or to ask.
struct wait_finder : code_visitor<wait_finder> {
  explicit wait_finder(llvm::SmallPtrSetImpl<const Expr*>& into) : found(into) {}

  bool VisitCXXMemberCallExpr(CXXMemberCallExpr* call) {
    const auto* method = call->getMethodDecl();
    if (is_std(method, {"join", "joinable", "get_id", "request_stop", "get_stop_token",
                        "get_stop_source", "native_handle"})) {
      harmless.insert(unwrapped(call->getImplicitObjectArgument()));
    }
    if (!is_std(method, {"join"})) return true;
    const Expr* const thread = unwrapped(call->getImplicitObjectArgument());
    if (const VarDecl* variable = origins::variable_read(thread)) {
      if (variable->getInit() != nullptr) found.insert(unwrapped(variable->getInit()));
    } else {
      add(thread);
    }
    return true;
  }
  bool VisitVarDecl(VarDecl* variable) {
    if (variable->hasLocalStorage() && variable->getInit() != nullptr &&
        std_class(variable->getType()) == "jthread") {
      found.insert(unwrapped(variable->getInit()));
    }
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr* named) {
    const auto* variable = dyn_cast<VarDecl>(named->getDecl());
    if (variable != nullptr && variable->getInit() != nullptr && !harmless.contains(named)) {
      handed_on.insert(unwrapped(variable->getInit()));
    }
    return true;
  }
  void add(const Expr* thread) {
    if (const auto* cast = dyn_cast<CXXFunctionalCastExpr>(thread)) {
      thread = unwrapped(cast->getSubExpr());
    }
    found.insert(thread);
  }
  llvm::SmallPtrSetImpl<const Expr*>& found;
  llvm::SmallPtrSet<const Expr*, 4> harmless;   // uses of variables
  llvm::SmallPtrSet<const Expr*, 4> handed_on;  // what such variables begin with
};

}  // namespace

bool flow::is_waited_for(const Expr* thread) const {
  if (!is_thread(thread)) return false;
  llvm::SmallPtrSet<const Expr*, 4> found;
  wait_finder look(found);
  if (!around_.empty()) look.TraverseStmt(const_cast<Stmt*>(around_.front()));
  return found.contains(unwrapped(thread)) && !look.handed_on.contains(unwrapped(thread));
}

/// An address is passed to a function of std.
void flow::check_passed_to_std(const Expr* call, const argument& each, const origin& found) {
  const FunctionDecl* const callee = callee_of(call);
  const auto* const method = dyn_cast<CXXMethodDecl>(callee);
  if (method != nullptr && each.index != functions::kThis &&
      callee->getOverloadedOperator() == OO_Call &&
      llvm::is_contained({"function", "move_only_function", "packaged_task"},
                         method->getParent()->getName())) {
    return warn(each.value->getSourceRange(), found, "a function that is not known",
                "pass a copy of the object");
  }
  const std::string misuse = misuse_by_std(callee, each.value->getType());
  if (!misuse.empty() && !is_waited_for(call)) {
    refuse(each.value->getSourceRange(), found,
           "the address that " + source_of(found) + " gives is passed to " + quoted(callee) + ", " +
               misuse);
    return;
  }
  for (const argument& other : arguments_of(call)) {
    if (other.value == each.value || closure_of(other.value->getType()) != nullptr) continue;
    for (const FunctionDecl* called : callables_of(other.value)) {
      const bool is_seen = called->getDefinition() != nullptr && called->getDefinition()->hasBody();
      for (unsigned i = 0; i < called->getNumParams(); ++i) {
        if (!as_given_by(called->getParamDecl(i)->getType(), found)) continue;
        if (!is_seen) {
          warn(each.value->getSourceRange(), found, name_of_called(called), "pass a lambda");
        } else if (known_.known_functions().of(called, static_cast<int>(i)).is_kept) {
          refuse(each.value->getSourceRange(), found,
                 "the address that " + source_of(found) + " gives is passed to " +
                     name_of_called(called) + ", which keeps it");
        }
      }
    }
    const llvm::StringRef of = std_class(other.value->getType());
    if (other.index != functions::kThis &&
        llvm::is_contained({"function", "move_only_function", "packaged_task"}, of)) {
      warn(each.value->getSourceRange(), found, "a function that is not known", "pass a lambda");
      return;
    }
  }
}

void flow::check_passed_to_seen(const Expr* call, const argument& each, const origin& found) {
  const FunctionDecl* const callee = callee_of(call);
  if (each.index >= static_cast<int>(callee->getNumParams())) return;
  const passing done = known_.known_functions().of(callee, each.index);
  if (done.is_kept) {
    if (refuse(each.value->getSourceRange(), found,
               "the address that " + source_of(found) + " gives is passed to " +
                   name_of_called(callee) + ", which keeps it") &&
        answer_ == nullptr) {
      complain_.note(done.where, "here");
    }
  } else if (done.may_be_kept) {
    warn(each.value->getSourceRange(), found,
         name_of_called(callee) + ", which passes it to a function that is not known,",
         "pass a copy of the object");
  }
  if (done.is_given && each.value->getType()->isPointerType()) {
    check_guide_gets(each.value, nullptr);
  }
}

void flow::check_passed(const Expr* call, const argument& each, const origin& found) {
  const FunctionDecl* const callee = callee_of(call);
  const SourceRange where = each.value->getSourceRange();
  if (isa_and_nonnull<CXXDestructorDecl>(callee)) {
    refuse(where, found,
           "the object of " + source_of(found) +
               " is ended by isotherm::discard(), not by its destructor");
    return;
  }
  switch (kind_of_callee(call, each.index, known_.known_functions())) {
    case callee_kind::runtime:
    case callee_kind::inside:
    case callee_kind::system:
      return;
    case callee_kind::standard:
      return check_passed_to_std(call, each, found);
    case callee_kind::seen:
      return check_passed_to_seen(call, each, found);
    case callee_kind::of_object:
      return warn(where, found, quoted(callee) + ", which is defined elsewhere,",
                  "mark it [[isotherm::inside]]");
    case callee_kind::unknown:
      if (callee != nullptr && callee->getIdentifier() != nullptr &&
          llvm::is_contained({"free", "realloc"}, callee->getName())) {
        refuse(where, found,
               "the object of " + source_of(found) + " is ended by isotherm::discard(), not by " +
                   quoted(callee));
        return;
      }
      return warn(where, found, name_of_called(callee), "pass a copy of the object");
    case callee_kind::elsewhere:
      refuse(where, found,
             "the address that " + source_of(found) + " gives is passed to " + quoted(callee) +
                 ", which is defined elsewhere and may keep it: mark it [[isotherm::inside]], or "
                 "pass a copy");
      return;
  }
}

/// Checks the places in which a call of a function of std may store an address.
void flow::check_sinks(const Expr* call) {
  const bool is_rebound = rebound_by(call) != nullptr;
  for (const sink& each : sinks_of(call, known_)) {
    const std::string place = lasting_place(is_rebound ? unwrapped(each.to) : target_of(each.to));
    if (place.empty()) continue;
    return refuse_store(call->getSourceRange(), each.found, place,
                        each.is_captured ? ": capture the node" : "");
  }
}

void flow::check_call(const Expr* call) {
  const FunctionDecl* const callee = callee_of(call);
  for (const argument& each : arguments_of(call)) {
    if (const origin found = origin_of(each, callee, known_)) check_passed(call, each, found);
  }
  if (callee == nullptr) return;
  check_sinks(call);
  if (is_std(callee, {"bit_cast"}) &&
      !cast<CallExpr>(call)->getArg(0)->getType()->isPointerType()) {
    check_number(cast<CallExpr>(call)->getArg(0), call);
  }
  if (is_exchange(call)) {
    const auto arguments = arguments_of(call);
    check_guide_gets(arguments[1].value, guide_named(arguments[0].value));
  }
}

/// A lambda becomes a pointer to a function, which has a scope of its own.
void flow::check_conversion(const CallExpr* call) {
  const auto* conversion = dyn_cast_or_null<CXXConversionDecl>(call->getDirectCallee());
  if (conversion == nullptr || !conversion->getParent()->isLambda() || answer_ != nullptr) return;
  const Expr* const lambda = cast<CXXMemberCallExpr>(call)->getImplicitObjectArgument();
  for (const FunctionDecl* each : callables_of(lambda)) {
    if (!known_.known_functions().returns(each)) continue;
    complain_.error(call->getSourceRange(),
                    "a lambda that returns the address that a guide gives becomes a pointer to a "
                    "function: called through it, it has a scope of its own, which ends before");
    return;
  }
}

bool flow::VisitCallExpr(CallExpr* call) {
  callees_.insert(call->getCallee()->IgnoreParenImpCasts());
  check_conversion(call);
  if (const auto* assigned = dyn_cast<CXXOperatorCallExpr>(call);
      assigned != nullptr && assigned->getOperator() == OO_Equal) {
    if (is_marked(assigned->getArg(0)->getType())) {
      check_guide_gets(assigned->getArg(1), guide_named(assigned->getArg(0)));
      return true;
    }
  }
  check_call(call);
  return true;
}

bool flow::VisitCXXConstructExpr(CXXConstructExpr* made) {
  const CXXConstructorDecl* const constructor = made->getConstructor();
  if (is_marked(made->getType())) {
    if (made->getNumArgs() == 1 && constructor->getParamDecl(0)->getType()->isPointerType()) {
      check_guide_gets(made->getArg(0), nullptr);
    }
    return true;
  }
  if (constructor->isCopyOrMoveConstructor() && constructor->isImplicit()) return true;
  check_call(made);
  return true;
}

}  // namespace isotherm::compiler
