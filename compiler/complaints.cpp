#include "complaints.hpp"

#include "clang/AST/DeclCXX.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

namespace isotherm::compiler {

using namespace clang;

std::string written(QualType type, const PrintingPolicy& policy) {
  const std::string text = type.getUnqualifiedType().getAsString(policy);
  llvm::StringRef name = text;
  name.consume_front("struct ") || name.consume_front("class ") || name.consume_front("enum ");
  return (type.getQualifiers().getAsString(policy) + (type.hasQualifiers() ? " " : "") + name)
      .str();
}

bool complaints::is_new(SourceLocation where, const std::string& text) {
  // Instances of a template differ in their types, which come later in the text.
  constexpr std::size_t kTelling = 16;
  return said_.emplace(where.getRawEncoding(), text.substr(0, kTelling)).second;
}

bool complaints::say(DiagnosticsEngine::Level level, SourceRange where, const std::string& text,
                     llvm::ArrayRef<FixItHint> fixes) {
  if (!is_new(where.getBegin(), text)) return false;
  DiagnosticsEngine& engine = context_.getDiagnostics();
  const unsigned id =
      engine.getDiagnosticIDs()->getCustomDiagID(static_cast<DiagnosticIDs::Level>(level), "%0");
  auto report = engine.Report(where.getBegin(), id);
  report << text << where;
  for (const FixItHint& fix : fixes) report << fix;
  return true;
}

void complaints::error(SourceRange where, const std::string& text, const ValueDecl* guide,
                       llvm::ArrayRef<FixItHint> fixes) {
  if (!say(DiagnosticsEngine::Error, where, text, fixes) || guide == nullptr) return;
  DiagnosticsEngine& engine = context_.getDiagnostics();
  engine.Report(guide->getLocation(),
                engine.getCustomDiagID(DiagnosticsEngine::Note, "%0 is marked here"))
      << "'" + guide->getNameAsString() + "'" << guide->getSourceRange();
}

void complaints::note(SourceLocation where, const std::string& text) {
  DiagnosticsEngine& engine = context_.getDiagnostics();
  engine.Report(where, engine.getCustomDiagID(DiagnosticsEngine::Note, "%0")) << text;
}

std::string complaints::named(const ValueDecl* guide) {
  return guide == nullptr ? "a guide" : "guide '" + guide->getNameAsString() + "'";
}

std::string complaints::name_of(QualType type) const {
  const CXXRecordDecl* const record = type->getAsCXXRecordDecl();
  return record != nullptr && record->isLambda() ? "a lambda" : "a '" + text_of(type) + "'";
}

std::string complaints::text_of(SourceRange range) const {
  return Lexer::getSourceText(CharSourceRange::getTokenRange(range), context_.getSourceManager(),
                              context_.getLangOpts())
      .str();
}

std::string complaints::in_place_of(SourceRange replaced, const std::string& text) const {
  bool is_invalid = false;
  const char* const next =
      context_.getSourceManager().getCharacterData(end_of(replaced.getEnd()), &is_invalid);
  const bool needs_space =
      !is_invalid && isAsciiIdentifierContinue(static_cast<unsigned char>(*next));
  return needs_space ? text + " " : text;
}

SourceLocation complaints::end_of(SourceLocation token) const {
  return Lexer::getLocForEndOfToken(token, 0, context_.getSourceManager(), context_.getLangOpts());
}

}  // namespace isotherm::compiler
