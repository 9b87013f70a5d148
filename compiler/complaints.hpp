// The diagnostics of the validation, each place once.
#pragma once

#include <set>
#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/Diagnostic.h"

namespace isotherm::compiler {

/// Returns `type` as a source names it, without the word `struct` or `class`.
std::string written(clang::QualType type, const clang::PrintingPolicy& policy);

/// Reports errors and warnings; a message of one kind only once at a place, however often a
/// template is instantiated. Callers supply text and fix-its.
class complaints {
 public:
  explicit complaints(clang::ASTContext& context) : context_(context) {}

  /// Says `text` of `where`; of a template once, whatever its instances. False: it has been said.
  bool say(clang::DiagnosticsEngine::Level level, clang::SourceRange where, const std::string& text,
           llvm::ArrayRef<clang::FixItHint> fixes = {});
  void error(clang::SourceRange where, const std::string& text,
             llvm::ArrayRef<clang::FixItHint> fixes = {}) {
    say(clang::DiagnosticsEngine::Error, where, text, fixes);
  }
  /// Reports an error about a guide, with a note that points to its mark.
  void error(clang::SourceRange where, const std::string& text, const clang::ValueDecl* guide,
             llvm::ArrayRef<clang::FixItHint> fixes = {});
  /// Adds to what has been said a note of `where`.
  void note(clang::SourceLocation where, const std::string& text);
  /// "guide 'value'", or "a guide".
  static std::string named(const clang::ValueDecl* guide);
  /// "a 'record'", or "a lambda".
  std::string name_of(clang::QualType type) const;
  std::string text_of(clang::QualType type) const {
    return written(type, context_.getPrintingPolicy());
  }
  /// Returns the text of the source.
  std::string text_of(clang::SourceRange range) const;
  /// `text` for the place of `replaced`, with a space where a word follows directly.
  std::string in_place_of(clang::SourceRange replaced, const std::string& text) const;
  clang::SourceLocation end_of(clang::SourceLocation token) const;

 private:
  bool is_new(clang::SourceLocation where, const std::string& text);
  clang::ASTContext& context_;
  std::set<std::pair<unsigned, std::string>> said_;
};

}  // namespace isotherm::compiler
