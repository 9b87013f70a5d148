// Where an address comes from: whether an expression is, or lies in, an object that a guide holds.
#pragma once

#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace isotherm::compiler {

/// What is known of an address.
struct origin {
  enum kind_of { none, inner, whole };  ///< of no guide's object; of a part of one; of one
  kind_of kind = none;
  const clang::ValueDecl* guide = nullptr;  ///< the marked field, where it has a name
  explicit operator bool() const { return kind != none; }
};

/// Of a local variable. Ignores the order of statements: a variable that is given an object's
/// address anywhere counts as holding it everywhere.
struct local_origin {
  origin from_guide;
  bool from_elsewhere = false;  ///< is given other values too
};

/// Functions that return an address of a guide's object to their callers.
class returning_functions {
 public:
  void add(const clang::FunctionDecl* function) {
    known_.insert(function->getCanonicalDecl());
    gives_part_.clear();  // what a method was found not to return it may return by way of this one
  }
  bool contains(const clang::FunctionDecl* function) const {
    return known_.contains(function->getCanonicalDecl());
  }
  /// Whether `method` returns the address of a part of the object that it is called of. Of one
  /// whose body is not seen: whether it returns any address.
  bool gives_part(const clang::CXXMethodDecl* method) const;

 private:
  llvm::DenseSet<const clang::FunctionDecl*> known_;
  mutable llvm::DenseMap<const clang::FunctionDecl*, bool> gives_part_;  // as far as asked
};

class origins {
 public:
  /// `own`: what `this` points to.
  explicit origins(const returning_functions& returning, origin own = {})
      : returning_(returning), own_(own) {}

  /// Learns from the variables and assignments in `body`.
  void learn(const clang::Stmt* body);
  /// `expression`, a pointer's value.
  origin of_address(const clang::Expr* expression) const;
  /// `expression`, an object.
  origin of_object(const clang::Expr* expression) const;
  /// What a local variable holds, or is bound to.
  origin of_variable(const clang::VarDecl* variable) const {
    const auto found = locals_.find(variable);
    return found == locals_.end() ? origin{} : found->second.from_guide;
  }
  /// What a variable, field or result of `type` gets from `initializer`.
  origin of_value(clang::QualType type, const clang::Expr* initializer) const;
  /// Whether all that is known to be `expression`'s value comes from guides.
  bool is_from_guides_only(const clang::Expr* expression) const;

 private:
  friend struct learner;
  bool add(const clang::VarDecl* variable, origin found);
  origin of_call(const clang::CallExpr* call) const;
  llvm::DenseMap<const clang::VarDecl*, local_origin> locals_;
  const returning_functions& returning_;
  origin own_;
};

/// Whether the body of `function`, which is called inside scopes only, returns an address of a
/// guide's object to its callers.
bool returns_address(const clang::FunctionDecl* function, const returning_functions& returning);

/// The expression below wrappers that change nothing: parentheses, temporaries, clean-ups.
const clang::Expr* unwrapped(const clang::Expr* expression);
/// What `to`, which is assigned to, names: by way of the local references that are bound to it.
const clang::Expr* target_of(const clang::Expr* to);
/// The marked field that `expression` names, or what else is a guide there; null: it is no guide.
const clang::ValueDecl* guide_named(const clang::Expr* expression);

}  // namespace isotherm::compiler
