// Calls, as far as addresses are concerned: what is called, with what, and where it may put them.
#pragma once

#include "addresses/origin.hpp"

namespace isotherm::compiler {

/// Kinds of called functions, by the knowledge of their bodies.
enum class callee_kind {
  runtime,    ///< of namespace isotherm: keeps nothing
  standard,   ///< of namespace std: keeps an address only in what it gets that has room for it
  seen,       ///< its body is in this file
  inside,     ///< defined elsewhere, and said to be called inside scopes: checked there
  of_object,  ///< defined elsewhere, a method of the object itself
  system,     ///< of a system library, and known to keep nothing
  elsewhere,  ///< defined elsewhere
  unknown     ///< through a pointer, or of a system library
};

struct argument {
  const clang::Expr* value;
  int index;  ///< of the parameter; functions::kThis: the object of the method
};

/// The arguments of `call`, a CallExpr or a CXXConstructExpr.
llvm::SmallVector<argument, 4> arguments_of(const clang::Expr* call);
/// Null: through a pointer.
const clang::FunctionDecl* callee_of(const clang::Expr* call);
/// `index`: of the parameter that gets the address.
callee_kind kind_of_callee(const clang::Expr* call, int index, const functions& all);

/// Returns the origin of the address that an argument leads to.
origin origin_of(const argument& each, const clang::FunctionDecl* callee, const origins& known);

/// The local variable that `call` makes stand for another place, as `at = found.end()` does; null:
/// none.
const clang::VarDecl* rebound_by(const clang::Expr* call);

/// A place that a call may store an address in.
struct sink {
  const clang::Expr* to;
  origin found;
  bool is_captured;  ///< by a lambda that is stored there
};
/// Returns the sinks among the arguments of `call`, a call of a function of std.
llvm::SmallVector<sink, 2> sinks_of(const clang::Expr* call, const origins& known);

/// Whether `call` is std::exchange() of a marked field.
bool is_exchange(const clang::Expr* call);
/// Whether `callee` is isotherm::discard() of a pointer. False of none.
bool is_discard(const clang::FunctionDecl* callee);

/// The functions that an argument of `type` stands for: a lambda, an object with operator(), and,
/// of `value`, a function by its name.
llvm::SmallVector<const clang::FunctionDecl*, 2> callables_of(const clang::Expr* value);

/// Whether a function of std that is called so calls a lambda that returns an address, which its
/// result then may lead to.
bool calls_a_returning_lambda(const clang::Expr* call, const functions& all);

}  // namespace isotherm::compiler
