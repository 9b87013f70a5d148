// The visitor that looks at the expressions of a function for the rule of addresses (flow.hpp).
#pragma once

#include "addresses/calls.hpp"
#include "addresses/flow.hpp"
#include "ast_facts.hpp"
#include "llvm/ADT/SmallPtrSet.h"

namespace isotherm::compiler {

class flow : public code_visitor<flow> {
 public:
  /// `function`: null where an initializer outside of functions is looked at. `answer`: null where
  /// what is found is reported.
  flow(const clang::FunctionDecl* function, const origins& known, complaints& complain,
       const options& chosen, passing* answer)
      : function_(function),
        known_(known),
        complain_(complain),
        options_(chosen),
        answer_(answer) {}

  void look_at(const clang::Stmt* code);
  void check_stored(const clang::ValueDecl* in, const clang::Expr* value);
  void check_initializers(const clang::CXXConstructorDecl* constructor);

  bool TraverseStmt(clang::Stmt* statement);
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda);
  bool VisitExpr(clang::Expr* expression);
  bool VisitBinaryOperator(clang::BinaryOperator* binary);
  bool VisitUnaryOperator(clang::UnaryOperator* unary);
  bool VisitArraySubscriptExpr(clang::ArraySubscriptExpr* element);
  bool VisitCastExpr(clang::CastExpr* cast);
  bool VisitVarDecl(clang::VarDecl* variable);
  bool VisitInitListExpr(clang::InitListExpr* list);
  bool VisitCXXParenListInitExpr(clang::CXXParenListInitExpr* list);
  bool VisitReturnStmt(clang::ReturnStmt* result);
  bool VisitCallExpr(clang::CallExpr* call);
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made);
  bool VisitCXXDeleteExpr(clang::CXXDeleteExpr* end);
  bool VisitAttributedStmt(clang::AttributedStmt* statement);
  bool VisitDeclRefExpr(clang::DeclRefExpr* named);

 private:
  bool refuse(clang::SourceRange where, const origin& found, const std::string& text,
              llvm::ArrayRef<clang::FixItHint> fixes = {});
  void refuse_store(clang::SourceRange where, const origin& found, const std::string& place,
                    const std::string& hint = "");
  void warn(clang::SourceRange where, const origin& found, const std::string& who,
            const std::string& hint);
  bool is_listed(const clang::Stmt* parent, const clang::Expr* used) const;
  void check_number(const clang::Expr* number, const clang::Expr* pointer);
  void check_arithmetic(const clang::Expr* pointer, clang::SourceRange where);
  void check_store(const clang::Expr* to, const clang::Expr* value, clang::SourceRange where);
  void check_fields(const clang::CXXRecordDecl* record, llvm::ArrayRef<clang::Expr*> values);
  void check_returned(const clang::Expr* value);
  void check_returned_virtually(const clang::Expr* value);
  std::string lasting_place(const clang::Expr* to) const;

  // passing.cpp
  void check_call(const clang::Expr* call);
  void check_passed(const clang::Expr* call, const argument& each, const origin& found);
  void check_passed_to_seen(const clang::Expr* call, const argument& each, const origin& found);
  void check_passed_to_std(const clang::Expr* call, const argument& each, const origin& found);
  void check_sinks(const clang::Expr* call);
  bool is_waited_for(const clang::Expr* thread) const;
  void check_conversion(const clang::CallExpr* call);

  // giving.cpp
  void check_guide_gets(const clang::Expr* value, const clang::ValueDecl* guide);
  bool check_is_made(const clang::Expr* value, const clang::ValueDecl* guide);
  void refuse_new(const clang::CXXNewExpr* made, const clang::ValueDecl* guide);

  const clang::FunctionDecl* function_;
  const origins& known_;
  complaints& complain_;
  const options& options_;
  passing* answer_;
  llvm::SmallVector<const clang::Stmt*, 32> around_;        // what is being looked at
  llvm::SmallVector<const clang::LambdaExpr*, 4> lambdas_;  // around it
  llvm::SmallPtrSet<const clang::Expr*, 16> callees_;
  llvm::SmallPtrSet<const clang::Expr*, 4> waited_for_;  // threads whose ends are waited for
  kept_lambdas kept_;
};

/// Reports what `function` does with local variables that the order of its statements forbids
/// (owners.cpp).
void check_owners(const clang::FunctionDecl* function, const origins& known, complaints& complain,
                  const options& chosen);

std::string quoted(const clang::NamedDecl* declaration);
/// `callee`, which is called, in words. Null: through a pointer.
std::string name_of_called(const clang::FunctionDecl* callee);
/// Describes the source of `found`, for messages.
std::string source_of(const origin& found);

}  // namespace isotherm::compiler
