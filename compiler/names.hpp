// Words that the front end writes on declarations, as clang::annotate, and that the pass reads.
#pragma once

namespace isotherm::compiler {

/// Public method: it has a scope of its own when it touches guides.
inline constexpr char kPublic[] = "isotherm::public";
/// Called inside a scope only: [[isotherm::inside]], methods that are not public, lambdas.
inline constexpr char kInside[] = "isotherm::inside";
/// On functions whose source says [[isotherm::inside]].
inline constexpr char kSaid[] = "isotherm::said";
/// On `[[isotherm::inside]]` functions and methods of classes that can reach marked fields: a call
/// whose callee this file does not define counts as a use of a guide.
inline constexpr char kKnows[] = "isotherm::knows";
/// On methods that are not public and return a pointer, a reference or what may hold one, which may
/// lead into an object: a call of one that this file does not define counts as a use of a guide,
/// whether its class is known to reach marked fields or not.
inline constexpr char kGives[] = "isotherm::gives";
/// On functions that call a virtual method which leaves its scope to its callers: the same.
inline constexpr char kCallsInside[] = "isotherm::calls_inside";
/// [[isotherm::untouched]], and functions that system headers declare: touches no guide.
inline constexpr char kUntouched[] = "isotherm::untouched";
/// Marks a function of namespace std that the standard library's headers do not declare: it has no
/// scope of its own, and is seen through. Functions of the library are known by their symbols.
inline constexpr char kTransparent[] = "isotherm::transparent";
/// Marks a function of namespace isotherm that opens the scopes it needs.
inline constexpr char kRuntime[] = "isotherm::runtime";
/// Marks a function of namespace isotherm whose caller holds an object's address
/// (guide/marked.hpp).
inline constexpr char kTouch[] = "isotherm::touch";
/// On a field that has been made a guide.
inline constexpr char kGuide[] = "isotherm::guide";

}  // namespace isotherm::compiler
