// The rule of addresses: what a guide, or make(), gives is used in the ways that are listed here,
// and nothing else is done with it.
//
//   - the object's members are read, written and called; the address is compared;
//   - local variables hold it: pointers, references, and objects of std and lambdas that have room
//     for it;
//   - functions get it whose bodies are seen to keep none of it, that std or the C library has, or
//     that are marked [[isotherm::inside]];
//   - functions that are called inside scopes return it; others an object that no guide holds yet;
//   - a marked field takes an object that has just been made, or that another one has given up.
//
// Whatever uses an address in another way is an error, also if nobody has thought of it: each
// expression that gives one is looked at in what it stands in (flow::VisitExpr).
#pragma once

#include "addresses/functions.hpp"
#include "addresses/origin.hpp"
#include "complaints.hpp"
#include "options.hpp"

namespace isotherm::compiler {

/// Reports what `function`, a definition that is no template, does with addresses and must not.
void check_addresses(const clang::FunctionDecl* function, const functions& all,
                     complaints& complain, const options& chosen);

/// The same of `value`, which initializes `of`, a variable or a field, outside of functions.
void check_addresses(const clang::ValueDecl* of, const clang::Expr* value, const functions& all,
                     complaints& complain, const options& chosen);

/// Adds to `answer` what `function` does with the one address that `known` is about.
void answer_question(const clang::FunctionDecl* function, const origins& known, passing& answer);

}  // namespace isotherm::compiler
