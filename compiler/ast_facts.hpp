// Facts about types and functions, from the syntax tree.
#pragma once

#include <initializer_list>
#include <string_view>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace isotherm::compiler {

/// Whether `declaration` lies in `name`, a namespace at the top, or in one inside it.
bool is_in_namespace(const clang::Decl* declaration, std::string_view name);

/// Whether `type`, or what it refers to, is isotherm::marked<...>: the type of a marked field.
bool is_marked(clang::QualType type);
/// T of isotherm::marked<T>; null of another type, and where T depends on a template's arguments.
clang::QualType pointee_of_marked(clang::QualType type);

/// Whether an annotation `text` stands on `declaration`.
bool has_annotation(const clang::Decl* declaration, std::string_view text);

/// The template isotherm::`name`; null where its header has not been included.
const clang::ClassTemplateDecl* template_of_ours(const clang::ASTContext& context,
                                                 llvm::StringRef name);
/// Whether classes have been made of it. False of null.
bool are_there(const clang::ClassTemplateDecl* made);

/// Whether `declaration` is of namespace std, and of the headers of its library.
bool is_of_std_headers(const clang::Decl* declaration);

/// A class with a marked field of its own, in a base or in a member.
bool holds_marked(const clang::CXXRecordDecl* record);

/// The class with guides whose bytes `argument` points to, also by casts; null: to none.
const clang::CXXRecordDecl* bytes_with_guides(const clang::Expr* argument);

/// Which classes can reach marked fields: by fields, bases, nested classes, what pointers point to,
/// and template arguments. Asked at the end of a class or later.
class reach {
 public:
  bool knows(const clang::CXXRecordDecl* record);

 private:
  bool knows_type(clang::QualType type);
  bool look(const clang::CXXRecordDecl* record);
  const clang::ClassTemplateDecl* marked_ = nullptr;
  llvm::DenseMap<const clang::CXXRecordDecl*, bool> known_;
  llvm::SmallVector<const clang::CXXRecordDecl*> seen_;  // by the question being answered
  bool saw_incomplete_ = false;
};

/// How the pass is to treat a function.
enum class standing {
  runtime,      ///< of namespace isotherm
  transparent,  ///< of namespace std
  inside,       ///< called inside a scope only
  open          ///< public method, or a function that is no method: may be called by anybody
};
standing standing_of(const clang::FunctionDecl* function);
/// Whether whoever calls `function` need not be in a scope. False of none.
bool is_entry(const clang::FunctionDecl* function);

/// Returns the method as which a caller without a scope may call `method`: itself, or one that it
/// overrides. Null: no such caller reaches it.
const clang::CXXMethodDecl* called_outside_as(const clang::CXXMethodDecl* method);

/// Whether `function` is of namespace std and has one of these names. False of none.
bool is_std(const clang::FunctionDecl* function, std::initializer_list<llvm::StringRef> names);
/// Whether `function` returns an address, by its type: a pointer or a reference.
bool returns_memory(const clang::FunctionDecl* function);

/// setjmp() and longjmp() under all their names. False of none.
bool is_jump(const clang::FunctionDecl* callee);

/// Visits code as it is compiled: with the conversions of what aggregates get, the variables of
/// loops over ranges, and what was made of generic lambdas. Types that depend on a template's
/// arguments lead to no guide.
template <class Derived>
class code_visitor : public clang::RecursiveASTVisitor<Derived> {
  using base = clang::RecursiveASTVisitor<Derived>;

 public:
  bool TraverseInitListExpr(clang::InitListExpr* list) {
    return base::TraverseSynOrSemInitListExpr(list->isSemanticForm() ? list
                                                                     : list->getSemanticForm());
  }
  bool TraverseCXXForRangeStmt(clang::CXXForRangeStmt* loop) {
    for (const clang::DeclStmt* part :
         {loop->getRangeStmt(), loop->getBeginStmt(), loop->getEndStmt()}) {
      // Is implicit, and left out elsewhere.
      auto* const variable =
          clang::cast<clang::VarDecl>(const_cast<clang::Decl*>(part->getSingleDecl()));
      if (!this->getDerived().TraverseVarDecl(variable)) return false;
    }
    clang::Stmt* const others[] = {loop->getInit(), loop->getLoopVarStmt(), loop->getBody()};
    return llvm::all_of(others, [&](clang::Stmt* part) {
      return part == nullptr || this->getDerived().TraverseStmt(part);
    });
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    if (!base::TraverseLambdaExpr(lambda)) return false;
    const auto* const made = lambda->getCallOperator()->getDescribedFunctionTemplate();
    if (made == nullptr) return true;
    return llvm::all_of(made->specializations(), [&](clang::FunctionDecl* each) {
      return this->getDerived().TraverseStmt(each->getBody());
    });
  }
};

/// The classes of the lambdas that are called elsewhere than where they are made.
struct kept_lambdas {
  using classes = llvm::SmallPtrSet<const clang::CXXRecordDecl*, 4>;

  /// Looks for them in `code`.
  void add(const clang::Stmt* code);
  /// Whether objects of std keep it, and call it in no scope.
  bool contains(const clang::CXXRecordDecl* closure) const { return by_std.contains(closure); }
  /// Whether it is called in a scope that closes before its maker goes on, or in none.
  bool is_left(const clang::CXXRecordDecl* closure) const {
    return contains(closure) || by_entries.contains(closure);
  }
  classes by_std;      ///< threads, std::function, std::async, containers
  classes by_entries;  ///< functions that have scopes of their own
};

/// The function in whose body `function`'s stands: of a lambda another one.
const clang::FunctionDecl* outermost(const clang::FunctionDecl* function);

}  // namespace isotherm::compiler
