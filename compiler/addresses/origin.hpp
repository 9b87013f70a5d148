// Origins of addresses: whether an expression is, lies in, or leads to an object that a guide
// holds.
#pragma once

#include "addresses/functions.hpp"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"

namespace isotherm::compiler {

/// The origin of an address, as far as it is known.
struct origin {
  enum kind_of { none, inner, whole };  ///< of no guide's object; of a part of one; of one
  kind_of kind = none;
  const clang::ValueDecl* guide = nullptr;  ///< the marked field, where it has a name
  clang::QualType object;                   ///< the type of the object; null: not known
  bool is_made = false;                     ///< no guide holds the object yet, as far as is seen
  explicit operator bool() const { return kind != none; }
  bool operator==(const origin&) const = default;
};
origin merged(origin a, origin b);
/// `found` for something of `type` that leads to the same object.
origin as_given_by(clang::QualType type, origin found);

/// Origins of the addresses in a local variable, whatever the order of statements: a variable that
/// is given an object's address anywhere counts as holding it everywhere.
struct local_origin {
  origin from_guide;
  bool from_elsewhere = false;            ///< is given other values too
  bool from_memory = false;               ///< some of them are kept where they come from
  bool is_given = false;                  ///< a marked field is made to point to what it holds
  const clang::Expr* not_made = nullptr;  ///< gives some of them: not_made()
};

class origins {
 public:
  /// `own`: what `this` points to.
  explicit origins(const functions& all, origin own = {}) : functions_(all), own_(own) {}
  /// For the question what becomes of `asked`, a parameter, or of `this`, if that is null: all
  /// other addresses are none.
  origins(const functions& all, const clang::ParmVarDecl* asked, clang::QualType object);

  /// Takes what `function` gets for addresses, where its callers may have some for it.
  void expect_addresses(const clang::FunctionDecl* function);
  /// Learns from the variables, assignments and calls in `body`.
  void learn(const clang::Stmt* body);

  /// Returns the origin of the value of `expression`, or of the object that it names.
  origin of(const clang::Expr* expression) const;
  /// Its value: a pointer, or an object that holds one.
  origin of_address(const clang::Expr* expression) const;
  /// The place in memory that it names.
  origin of_object(const clang::Expr* expression) const;
  /// Returns the origin that a variable, field or result of `type` gets from `initializer`.
  origin of_value(clang::QualType type, const clang::Expr* initializer) const;
  /// Returns the origin of the address that a local variable holds, or is bound to.
  origin of_variable(const clang::VarDecl* variable) const { return local(variable).from_guide; }
  /// Whether marked fields get what local variables hold.
  bool gives_variables() const {
    return llvm::any_of(locals_, [](const auto& each) { return each.second.is_given; });
  }
  /// Whether isotherm::discard() gets a pointer.
  bool discards() const { return discards_; }
  local_origin local(const clang::VarDecl* variable) const { return locals_.lookup(variable); }
  /// The local variable whose value `expression` is; null: it is another one's.
  static const clang::VarDecl* variable_read(const clang::Expr* expression);
  /// Whether all that is known to be `expression`'s value is held by guides.
  bool is_from_guides_only(const clang::Expr* expression) const;
  const functions& known_functions() const { return functions_; }
  /// Whether this is about a parameter alone.
  bool asks() const { return asks_; }

 private:
  friend struct learner;
  bool add(const clang::VarDecl* variable, origin found);
  bool give(const clang::VarDecl* variable, const clang::ValueDecl* to);
  origin of_call(const clang::CallExpr* call) const;
  origin of_runtime_call(const clang::CallExpr* call) const;
  origin of_result(const clang::Expr* call, clang::QualType type) const;
  origin of_construction(const clang::CXXConstructExpr* made) const;
  origin of_cast(const clang::CastExpr* cast) const;
  origin of_capture(const clang::LambdaExpr* lambda) const;
  origin of_list(const clang::InitListExpr* list, bool is_passed) const;
  origin of_named(const clang::DeclRefExpr* named) const;
  origin of_member(const clang::MemberExpr* member) const;
  origin of_operator(const clang::Expr* expression) const;

  llvm::DenseMap<const clang::VarDecl*, local_origin> locals_;
  const functions& functions_;
  origin own_;
  bool asks_ = false;
  bool discards_ = false;
};

/// Whether `function` returns an address of a guide's object to its callers, and whether that is
/// one of an object that no guide holds yet.
origin returned_by(const clang::FunctionDecl* function, const functions& all);

/// Whether `cast` takes memory for that of another type, other than for bytes.
bool reinterprets(const clang::CastExpr* cast);

/// The expression below wrappers that change nothing: parentheses, temporaries, clean-ups.
const clang::Expr* unwrapped(const clang::Expr* expression);
/// Returns the part of `value` that gives memory which make() has not made: `new`, `&`, or a call
/// of a function that returns one of these; null: there is none. `depth`: of such calls.
const clang::Expr* not_made(const clang::Expr* value, unsigned depth = 0);
/// Follows local references, and local objects that stand for others, from `to`, which is assigned
/// to, to the expression that they name.
const clang::Expr* target_of(const clang::Expr* to);
/// The marked field that `expression` names, or what else is a guide there; null: it is no guide.
const clang::ValueDecl* guide_named(const clang::Expr* expression);

}  // namespace isotherm::compiler
