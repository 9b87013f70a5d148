// What the front end writes on declarations, as clang::annotate, and the pass reads there.
#pragma once

namespace isotherm::compiler {

/// Public method: it has a scope of its own when it touches guides.
inline constexpr char kPublic[] = "isotherm::public";
/// Called inside a scope only: [[isotherm::inside]], methods that are not public, lambdas.
inline constexpr char kInside[] = "isotherm::inside";
/// [[isotherm::inside]], and methods of a class that can reach marked fields: what they call and
/// nobody knows may touch them.
inline constexpr char kKnows[] = "isotherm::knows";
/// [[isotherm::untouched]], and functions that system headers declare: touches no guide.
inline constexpr char kUntouched[] = "isotherm::untouched";
/// Of namespace std: has no scope of its own, and is seen through.
inline constexpr char kTransparent[] = "isotherm::transparent";
/// Of namespace isotherm: opens what scopes it needs.
inline constexpr char kRuntime[] = "isotherm::runtime";
/// Of namespace isotherm, and whoever calls it holds an object's address (guide/marked.hpp).
inline constexpr char kTouch[] = "isotherm::touch";
/// On a field that has been made a guide.
inline constexpr char kGuide[] = "isotherm::guide";

}  // namespace isotherm::compiler
