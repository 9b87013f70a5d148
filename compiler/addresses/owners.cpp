// Two owners of one object: a marked field is given what a local variable holds, and the variable
// may hold, at that point of the function, what a guide holds already. The order of statements
// counts here: each point of the function is reached with what all ways to it may leave behind.
#include <deque>

#include "addresses/flow_visitor.hpp"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/MapVector.h"

namespace isotherm::compiler {

using namespace clang;

namespace {

/// Content of a variable at a point: its value, by the expression that gave it, and whether a guide
/// holds the object.
struct content {
  const void* value = nullptr;  ///< null: one of several
  bool is_held = false;
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
    if (joined.value != other.value) joined.value = nullptr;
    has_changed |= is_new || !(joined == place->second);
    place->second = joined;
  }
  return has_changed;
}

class owner_check {
 public:
  owner_check(const origins& known, complaints& complain) : known_(known), complain_(complain) {}

  void look_at(const CFG& graph) {
    std::vector<contents> before(graph.getNumBlockIDs());
    std::vector<bool> is_reached(graph.getNumBlockIDs());
    std::deque<const CFGBlock*> waiting{&graph.getEntry()};
    is_reached[graph.getEntry().getBlockID()] = true;
    while (!waiting.empty()) {
      const CFGBlock* const block = waiting.front();
      waiting.pop_front();
      contents now = before[block->getBlockID()];
      for (const CFGElement& element : *block) {
        if (const auto statement = element.getAs<CFGStmt>()) step(statement->getStmt(), now);
      }
      for (const CFGBlock* next : block->succs()) {
        if (next == nullptr) continue;
        const unsigned id = next->getBlockID();
        if (join(before[id], now) || !is_reached[id]) waiting.push_back(next);
        is_reached[id] = true;
      }
    }
  }

 private:
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
    } else if (const auto* call = dyn_cast<CallExpr>(statement)) {
      step_over(call, now);
    }
  }
  void step_over(const CallExpr* call, contents& now) {
    const auto* of_class = dyn_cast<CXXOperatorCallExpr>(call);
    if (of_class != nullptr && of_class->getOperator() == OO_Equal &&
        is_marked(of_class->getArg(0)->getType())) {
      return give(of_class->getArg(1), guide_named(of_class->getArg(0)), now);
    }
    const FunctionDecl* const callee = call->getDirectCallee();
    for (const argument& each : arguments_of(call)) {
      if (!each.value->getType()->isPointerType() || callee == nullptr ||
          kind_of_callee(call, each.index, known_.known_functions()) != callee_kind::seen) {
        continue;
      }
      if (known_.known_functions().of(callee, each.index).is_given) give(each.value, nullptr, now);
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
      now[variable] = {value, found.kind == origin::whole && !found.is_made};
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
};

}  // namespace

void check_owners(const FunctionDecl* function, const origins& known, complaints& complain) {
  if (!known.gives_variables() || function->getBody() == nullptr) return;
  CFG::BuildOptions every_expression;
  every_expression.setAllAlwaysAdd();
  const std::unique_ptr<CFG> graph =
      CFG::buildCFG(function, function->getBody(), &function->getASTContext(), every_expression);
  if (graph != nullptr) owner_check(known, complain).look_at(*graph);
}

}  // namespace isotherm::compiler
