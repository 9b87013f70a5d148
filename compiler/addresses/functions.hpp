// Functions that keep or pass on addresses that they get, and functions that return some.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace isotherm::compiler {

/// The use that a function makes of an address that it gets.
struct passing {
  bool is_returned = false;     ///< what it returns leads there
  bool is_kept = false;         ///< stores it where it outlives the call, or ends the object
  bool is_stored = false;       ///< the first of these
  bool may_be_kept = false;     ///< passes it to somebody who is not known
  bool is_given = false;        ///< makes a marked field point to it
  clang::SourceLocation where;  ///< keeps it here
};

class functions {
 public:
  /// Stands for the object of a method call where a parameter's index is expected.
  static constexpr int kThis = -1;

  explicit functions(const clang::ASTContext& of) : context_(of) {}
  const clang::ASTContext& context() const { return context_; }

  /// `object`: the type of objects that marked fields hold.
  void add_held(clang::QualType object);
  bool is_held(clang::QualType object) const;

  /// Returns an address of a guide's object.
  void add_returning(const clang::FunctionDecl* function);
  bool returns(const clang::FunctionDecl* function) const {
    return returning_.contains(function->getCanonicalDecl());
  }
  /// Returns an object that no guide holds yet.
  void add_making(const clang::FunctionDecl* function) {
    making_.insert(function->getCanonicalDecl());
  }
  bool makes(const clang::FunctionDecl* function) const {
    return making_.contains(function->getCanonicalDecl());
  }

  /// Returns the use that `function`, whose body is seen, makes of an address as its parameter
  /// `index`. A function that calls itself is taken to do nothing in the calls under way.
  passing of(const clang::FunctionDecl* function, int index) const;

 private:
  passing look(const clang::FunctionDecl* function, int index) const;

  const clang::ASTContext& context_;
  using question = std::pair<const clang::FunctionDecl*, int>;
  llvm::DenseSet<const clang::FunctionDecl*> returning_, making_;
  llvm::DenseSet<const clang::Type*> held_;
  mutable llvm::DenseMap<question, passing> answers_;
  mutable llvm::SmallVector<question> open_, answered_;  // since somebody asked from outside
  mutable bool took_for_granted_ = false;
};

}  // namespace isotherm::compiler
