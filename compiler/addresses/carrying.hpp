// Types whose values may lead to the address of an object.
#pragma once

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"

namespace isotherm::compiler {

/// Whether a `part` may lie in an object of type `object`. Null: of an object of any type.
bool is_part_of(clang::QualType part, clang::QualType object);

/// Whether a value of `type` may lead to the address of an object of type `object`, or of a part of
/// it: a pointer or a reference does, and so do views, iterators, containers of pointers, lambdas
/// and what else has such a member. `object` null: of an object of any type.
bool may_carry(clang::QualType type, clang::QualType object);

/// The class of std that `type`, or what it refers to, is; empty: another type.
llvm::StringRef std_class(clang::QualType type);
/// Whether what such a class hands out lies elsewhere than in itself: containers, smart pointers.
bool has_its_elements_elsewhere(clang::QualType type);
/// Whether objects of such a class of std stand for places elsewhere, which an assignment to them
/// writes: iterators, spans, references as objects.
bool stands_for_others(clang::QualType type);
/// The class of a lambda; null: another type.
const clang::CXXRecordDecl* closure_of(clang::QualType type);

/// Returns the type that a pointer or a reference leads to; any other type as it is.
clang::QualType target_type(clang::QualType type);

}  // namespace isotherm::compiler
