// Rules of a function in which the order of statements counts. The analysis checks each point with
// the contents of local variables, joined over all ways to it.
//
//   two owners   a marked field is given an object that a guide may hold there already
//   discarded    isotherm::discard() ends an object to which the guide from which the pointer was
//                read still points when the function returns
#include <deque>

#include "addresses/flow_visitor.hpp"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/MapVector.h"

namespace isotherm::compiler {

using namespace clang;

namespace {

/// Content of a variable at a point: its value, by the expression that gave it, and the state of
/// the object.
struct content {
  const void* value = nullptr;     ///< null: one of several
  bool is_held = false;            ///< a guide may hold the object
  bool is_read = false;            ///< was read from a guide, which has not been changed since
  const CallExpr* left = nullptr;  ///< has ended the object since, to which the guide still points
  bool operator==(const content&) const = default;
};
using contents = llvm::SmallMapVector<const VarDecl*, content, 8>;

/// Adds what another way to a point leaves behind; true when that is new.
bool join(contents& into, const contents& from) {
  bool has_changed = false;
  for (const auto& [variable, other] : from) {
    const auto [place, is_new] = into.insert({variable, other});
    content joined = place->second;
    joined.is_held |= other.is_held;
    joined.is_read &= other.is_read;
    if (other.left == nullptr) joined.left = nullptr;
    if (joined.value != other.value) joined.value = nullptr;
    has_changed |= is_new || !(joined == place->second);
    place->second = joined;
  }
  return has_changed;
}

/// Returns the marked field that `value` reads; null: it is no such read.
const ValueDecl* guide_read(const Expr* value) {
  value = unwrapped(value);
  for (;;) {
    const auto* cast = dyn_cast<CastExpr>(value);
    const auto* unary = dyn_cast<UnaryOperator>(value);
    if (cast == nullptr && unary == nullptr) break;
    value = unwrapped(cast != nullptr ? cast->getSubExpr() : unary->getSubExpr());
  }
  const auto* call = dyn_cast<CallExpr>(value);
  const auto* method = call == nullptr ? nullptr : dyn_cast_or_null<CXXMethodDecl>(callee_of(call));
  return method != nullptr && method->isConst() ? guide_named(arguments_of(call).front().value)
                                                : nullptr;
}

/// Whether a variable of the callers', which these end, may lead to guides.
bool ends_with_callers(const ParmVarDecl* parameter) {
  return parameter->getType().isDestructedType() != QualType::DK_none;
}

/// Whether `call` may change a guide.
bool may_change_guides(const Expr* call) {
  const FunctionDecl* const callee = callee_of(call);
  if (callee == nullptr) return true;
  if (!is_in_namespace(callee, "isotherm")) {
    const SourceManager& sources = callee->getASTContext().getSourceManager();
    const bool is_system = callee->getBuiltinID() != 0 || callee->getLocation().isInvalid() ||
                           sources.isInSystemHeader(callee->getLocation());
    return !is_system || is_in_namespace(callee, "std");
  }
  const auto* const method = dyn_cast<CXXMethodDecl>(callee);
  if (method != nullptr && !method->isStatic()) return !method->isConst();
  return llvm::any_of(arguments_of(call),
                      [](auto& each) { return is_marked(each.value->getType()); });
}

class owner_check {
 public:
  /// `warns`: of what is discarded while a guide points to it.
  owner_check(const origins& known, complaints& complain, bool warns)
      : known_(known), complain_(complain), warns_(warns) {}

  void look_at(const CFG& graph) {
    std::vector<contents> before(graph.getNumBlockIDs());
    std::vector<bool> is_reached(graph.getNumBlockIDs());
    std::deque<const CFGBlock*> waiting{&graph.getEntry()};
    is_reached[graph.getEntry().getBlockID()] = true;
    while (!waiting.empty()) {
      const CFGBlock* const block = waiting.front();
      waiting.pop_front();
      const contents after = step_through(*block, before[block->getBlockID()]);
      for (const CFGBlock* next : block->succs()) {
        if (next == nullptr) continue;
        const unsigned id = next->getBlockID();
        if (join(before[id], after) || !is_reached[id]) waiting.push_back(next);
        is_reached[id] = true;
      }
    }
    for (const CFGBlock* block : graph) {
      if (!warns_ || !is_reached[block->getBlockID()]) continue;
      const contents after = step_through(*block, before[block->getBlockID()]);
      if (llvm::is_contained(block->succs(), &graph.getExit())) warn_of_left(after);
    }
  }

 private:
  contents step_through(const CFGBlock& block, contents now) {
    for (const CFGElement& element : block) {
      if (const auto statement = element.getAs<CFGStmt>()) {
        step(statement->getStmt(), now);
      } else {
        change_guides(now);  // a destructor
      }
    }
    return now;
  }
  void step(const Stmt* statement, contents& now) {
    if (const auto* declared = dyn_cast<DeclStmt>(statement)) {
      for (const Decl* each : declared->decls()) {
        const auto* variable = dyn_cast<VarDecl>(each);
        if (variable != nullptr) set(variable, variable->getInit(), now);
      }
    } else if (const auto* assigned = dyn_cast<BinaryOperator>(statement)) {
      if (assigned->getOpcode() != BO_Assign) return;
      const VarDecl* const variable = origins::variable_read(assigned->getLHS());
      if (variable != nullptr) set(variable, assigned->getRHS(), now);
    } else if (const auto* made = dyn_cast<CXXConstructExpr>(statement)) {
      if (is_marked(made->getType()) && made->getNumArgs() == 1)
        give(made->getArg(0), nullptr, now);
      if (may_change_guides(made)) change_guides(now);
    } else if (const auto* call = dyn_cast<CallExpr>(statement)) {
      step_over(call, now);
      if (may_change_guides(call)) change_guides(now);
    } else if (isa<CXXDeleteExpr>(statement)) {
      change_guides(now);
    }
  }
  static void change_guides(contents& now) {
    for (auto& [variable, its] : now) {
      its.is_read = false;
      its.left = nullptr;
    }
  }
  void step_over(const CallExpr* call, contents& now) {
    const auto* of_class = dyn_cast<CXXOperatorCallExpr>(call);
    if (of_class != nullptr && of_class->getOperator() == OO_Equal &&
        is_marked(of_class->getArg(0)->getType())) {
      return give(of_class->getArg(1), guide_named(of_class->getArg(0)), now);
    }
    if (is_exchange(call)) return give(call->getArg(1), guide_named(call->getArg(0)), now);
    const FunctionDecl* const callee = call->getDirectCallee();
    if (is_discard(callee)) return discard(call->getArg(0), call, now);
    for (const argument& each : arguments_of(call)) {
      if (!each.value->getType()->isPointerType() || callee == nullptr ||
          kind_of_callee(call, each.index, known_.known_functions()) != callee_kind::seen) {
        continue;
      }
      if (known_.known_functions().of(callee, each.index).is_given) give(each.value, nullptr, now);
    }
  }
  /// `call` ends the object of `value`.
  static void discard(const Expr* value, const CallExpr* call, contents& now) {
    const VarDecl* const variable = origins::variable_read(value);
    const bool is_read = variable == nullptr ? guide_read(value) != nullptr : now[variable].is_read;
    if (is_read) now[variable].left = call;
  }
  void warn_of_left(const contents& now) {
    for (const auto& [variable, its] : now) {
      if (its.left == nullptr) continue;
      complain_.say(DiagnosticsEngine::Warning, its.left->getSourceRange(),
                    "a guide still points to the object that isotherm::discard() ends: pass the "
                    "marked field, which it empties [-Wisotherm-discarded]");
    }
  }
  void set(const VarDecl* variable, const Expr* value, contents& now) {
    if (!variable->getType()->isPointerType()) return;
    if (value == nullptr) {
      now[variable] = {};
    } else if (const VarDecl* copied = origins::variable_read(value)) {
      now[variable] = now.lookup(copied);
    } else {
      const origin found = known_.of_address(value);
      now[variable] = {.value = value,
                       .is_held = found.kind == origin::whole && !found.is_made,
                       .is_read = guide_read(value) != nullptr};
    }
  }
  void give(const Expr* value, const ValueDecl* guide, contents& now) {
    const VarDecl* const variable = origins::variable_read(value);
    if (variable == nullptr || !variable->getType()->isPointerType()) return;
    content& given = now[variable];
    if (given.is_held) {
      complain_.error(value->getSourceRange(),
                      complaints::named(guide) + " would hold the object of " +
                          source_of(known_.of_variable(variable)) +
                          " too, and an object moves with one guide: hand it over by "
                          "std::exchange(..., nullptr)",
                      guide);
    }
    given.is_held = true;
    const void* const same = given.value;
    for (auto& [other, its] : now) {
      if (same != nullptr && its.value == same) its.is_held = true;
    }
  }

  const origins& known_;
  complaints& complain_;
  const bool warns_;
};

/// Finds a function, and the lambdas in it.
struct body_finder : code_visitor<body_finder> {
  void add(const FunctionDecl* function) {
    if (function->getBody() == nullptr) return;
    bodies.push_back(function);
    TraverseStmt(function->getBody());
  }
  bool TraverseLambdaExpr(LambdaExpr* lambda) {
    for (const FunctionDecl* each : callables_of(lambda)) add(each);
    return true;
  }
  llvm::SmallVector<const FunctionDecl*, 4> bodies;
};

}  // namespace

void check_owners(const FunctionDecl* function, const origins& known, complaints& complain,
                  const options& chosen) {
  if (!known.gives_variables() && !known.discards()) return;
  CFG::BuildOptions every_expression;
  every_expression.setAllAlwaysAdd();
  every_expression.AddImplicitDtors = true;
  body_finder found;
  found.add(function);
  for (const FunctionDecl* each : found.bodies) {
    const std::unique_ptr<CFG> graph =
        CFG::buildCFG(each, each->getBody(), &each->getASTContext(), every_expression);
    const bool warns =
        chosen.warns_discarded && llvm::none_of(each->parameters(), ends_with_callers);
    if (graph != nullptr) owner_check(known, complain, warns).look_at(*graph);
  }
}

}  // namespace isotherm::compiler
