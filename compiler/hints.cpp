#include "hints.hpp"

#include <optional>

#include "ast_facts.hpp"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "complaints.hpp"

namespace isotherm::compiler {

using namespace clang;

namespace {

class hints : public DiagnosticConsumer {
 public:
  hints(CompilerInstance& compiler, std::shared_ptr<unknown_attributes> typos)
      : printer_(compiler.getDiagnostics().getClient()),
        owned_(compiler.getDiagnostics().takeClient()),
        own_(compiler.getDiagnostics().getDiagnosticIDs(),
             &compiler.getDiagnostics().getDiagnosticOptions(), printer_, false),
        sources_(compiler.getSourceManager()),
        language_(compiler.getLangOpts()),
        typos_(std::move(typos)) {
    own_.setSourceManager(&sources_);
    own_.setLastDiagnosticIgnored(false);  // the errors that its notes follow may be clang's
    NumErrors = printer_->getNumErrors();
    NumWarnings = printer_->getNumWarnings();
  }

  void BeginSourceFile(const LangOptions& language, const Preprocessor* from) override {
    printer_->BeginSourceFile(language, from);
  }
  void EndSourceFile() override { printer_->EndSourceFile(); }
  void finish() override { printer_->finish(); }
  void clear() override {
    DiagnosticConsumer::clear();
    printer_->clear();
  }
  bool IncludeInDiagnosticCounts() const override { return printer_->IncludeInDiagnosticCounts(); }

  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& said) override {
    if (level == DiagnosticsEngine::Note) {
      if (!has_replaced_ && !replace_note(said)) pass_on(level, said);
      return;
    }
    assigned_ = {};
    has_replaced_ = is_typo(said) || (level >= DiagnosticsEngine::Error && replace(said));
    if (has_replaced_ && level < DiagnosticsEngine::Error) return;
    DiagnosticConsumer::HandleDiagnostic(level, said);  // counts it
    if (!has_replaced_) pass_on(level, said);
  }

 private:
  bool is_typo(const Diagnostic& said);
  bool replace(const Diagnostic& said);
  bool replace_note(const Diagnostic& said);
  void pass_on(DiagnosticsEngine::Level level, const Diagnostic& said);
  std::optional<std::string> object_of(const Diagnostic& said) const;
  std::string text_of(CharSourceRange range) const {
    return Lexer::getSourceText(range, sources_, language_).str();
  }
  void say(DiagnosticsEngine::Level level, SourceLocation where, const std::string& text,
           llvm::ArrayRef<FixItHint> fixes) {
    auto report = own_.Report(where, own_.getCustomDiagID(level, "%0"));
    report << text;
    for (const FixItHint& fix : fixes) report << fix;
  }
  llvm::SmallVector<FixItHint, 2> around(SourceRange range, const std::string& before,
                                         const std::string& after) const {
    if (range.isInvalid() || range.getBegin().isMacroID() || range.getEnd().isMacroID()) return {};
    const SourceLocation end = Lexer::getLocForEndOfToken(range.getEnd(), 0, sources_, language_);
    return {FixItHint::CreateInsertion(range.getBegin(), before),
            FixItHint::CreateInsertion(end, after)};
  }
  llvm::SmallVector<FixItHint, 2> instead_of_auto(SourceLocation variable,
                                                  const std::string& object) const;

  DiagnosticConsumer* printer_;
  std::unique_ptr<DiagnosticConsumer> owned_;  // empty: `printer_` is another one's
  DiagnosticsEngine own_;                      // for messages while clang's is busy with one
  SourceManager& sources_;
  const LangOptions& language_;
  std::shared_ptr<unknown_attributes> typos_;
  bool has_replaced_ = false;  // the last message that is no note
  SourceRange assigned_;       // right side of the assignment that the last message refuses
};

/// Returns the type of the objects of the marked field that `said` is about; none: of no such one.
std::optional<std::string> hints::object_of(const Diagnostic& said) const {
  for (unsigned i = 0; i < said.getNumArgs(); ++i) {
    if (said.getArgKind(i) != DiagnosticsEngine::ak_qualtype) continue;
    const auto type = QualType::getFromOpaquePtr(reinterpret_cast<const void*>(said.getRawArg(i)));
    const QualType object = pointee_of_marked(type);
    if (!object.isNull()) return written(object, PrintingPolicy(language_));
  }
  return std::nullopt;
}

/// Replaces the `auto` of `auto* variable`, which stands in the same line.
llvm::SmallVector<FixItHint, 2> hints::instead_of_auto(SourceLocation variable,
                                                       const std::string& object) const {
  constexpr llvm::StringRef kWord = "auto";
  if (variable.isMacroID()) return {};
  const auto [file, offset] = sources_.getDecomposedLoc(variable);
  const llvm::StringRef before = sources_.getBufferData(file).take_front(offset);
  const std::size_t at = before.rfind(kWord);
  if (at == llvm::StringRef::npos || before.drop_front(at).contains('\n')) return {};
  if (before.drop_front(at + kWord.size()).trim(" *") != "") return {};
  const SourceLocation word =
      variable.getLocWithOffset(static_cast<int>(at) - static_cast<int>(offset));
  const bool is_const = before.take_front(at).rtrim().ends_with("const");
  llvm::StringRef type = object;
  if (is_const) type.consume_front("const ");
  return {FixItHint::CreateReplacement(word, type)};
}

/// Says an error of clang in other words; false: it is not about a marked field.
bool hints::replace(const Diagnostic& said) {
  const std::optional<std::string> object = object_of(said);
  const SourceLocation where = said.getLocation();
  const auto ranges = said.getRanges();
  if (said.getID() == diag::err_ovl_deleted_oper) {
    if (!ranges.empty()) assigned_ = ranges.back().getAsRange();
    return false;
  }
  if (!object) return false;
  if (said.getID() == diag::err_auto_var_deduction_failure) {
    say(DiagnosticsEngine::Error, where,
        "no pointer can be deduced from a guide, which a marked field is: write '" + *object +
            "*' instead of 'auto*'",
        instead_of_auto(where, *object));
    return true;
  }
  if (said.getID() == diag::err_ovl_deleted_init) {
    const SourceRange copied = ranges.empty() ? SourceRange() : ranges.back().getAsRange();
    const std::string cast = "static_cast<" + *object + "*>(";
    const std::string text =
        copied.isInvalid() ? "..." : text_of(CharSourceRange::getTokenRange(copied));
    say(DiagnosticsEngine::Error, where,
        "a copy of a guide would be made, which is its object's only owner: write " + cast + text +
            ") for the object's address",
        around(copied, cast, ")"));
    return true;
  }
  return false;
}

bool hints::replace_note(const Diagnostic& said) {
  if (said.getID() == diag::note_ovl_candidate_non_deduced_mismatch ||
      said.getID() == diag::note_ovl_candidate_non_deduced_mismatch_qualified) {
    llvm::SmallString<128> text;
    said.FormatDiagnostic(text);
    if (!text.str().contains("marked<")) return false;
    say(DiagnosticsEngine::Note, said.getLocation(),
        "candidate template ignored: no pointer can be deduced from a guide, which a marked field "
        "is: pass static_cast<T*>(...) for the object's address",
        {});
    return true;
  }
  // The overloads of the class are not the user's.
  if (assigned_.isInvalid()) return false;
  const PresumedLoc in = sources_.getPresumedLoc(said.getLocation());
  if (in.isInvalid() || !llvm::StringRef(in.getFilename()).ends_with("guide/marked.hpp")) {
    return false;
  }
  const std::string handed =
      "std::exchange(" + text_of(CharSourceRange::getTokenRange(assigned_)) + ", nullptr)";
  say(DiagnosticsEngine::Note, assigned_.getBegin(),
      "an object has one guide: write " + handed + " to hand it over",
      around(assigned_, "std::exchange(", ", nullptr)"));
  has_replaced_ = true;
  return true;
}

/// Notes an attribute of namespace isotherm that clang does not know.
bool hints::is_typo(const Diagnostic& said) {
  if (said.getID() != diag::warn_unknown_attribute_ignored) return false;
  const SourceLocation space = sources_.getFileLoc(said.getLocation());  // begins with it
  if (text_of(CharSourceRange::getTokenRange(space)) != "isotherm") return false;
  const auto next = [&](SourceLocation after) {
    const std::optional<Token> token = Lexer::findNextToken(after, sources_, language_);
    return token ? token->getLocation() : after;
  };
  const SourceRange name(next(next(space)));
  typos_->push_back({name, text_of(CharSourceRange::getTokenRange(name))});
  return true;
}

/// Returns `text` with the types of marked fields as they are written in the source.
std::string as_written(llvm::StringRef text) {
  constexpr llvm::StringRef kClass = "marked<";
  std::string result;
  for (auto at = text.find(kClass); at != llvm::StringRef::npos; at = text.find(kClass)) {
    llvm::StringRef before = text.take_front(at);
    text = text.drop_front(at + kClass.size());
    std::size_t end = 0;
    for (int open = 1; end < text.size(); ++end) {
      open += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
      if (open == 0) break;
    }
    before.consume_back("isotherm::");
    result += (before + "[[isotherm::guide]] " + text.take_front(end) + " *").str();
    text = text.drop_front(std::min(end + 1, text.size()));
  }
  return result + text.str();
}

void hints::pass_on(DiagnosticsEngine::Level level, const Diagnostic& said) {
  if (level < DiagnosticsEngine::Error || !object_of(said)) {
    return printer_->HandleDiagnostic(level, said);
  }
  llvm::SmallString<128> text;
  said.FormatDiagnostic(text);
  auto report = own_.Report(said.getLocation(), own_.getCustomDiagID(level, "%0"));
  report << as_written(text.str());
  for (const CharSourceRange& range : said.getRanges()) report << range;
}

}  // namespace

void give_hints(CompilerInstance& compiler, std::shared_ptr<unknown_attributes> typos) {
  auto* const between = new hints(compiler, std::move(typos));  // takes the client that is there
  compiler.getDiagnostics().setClient(between, true);
}

void report(const unknown_attributes& typos, DiagnosticsEngine& to) {
  const unsigned id = to.getCustomDiagID(DiagnosticsEngine::Error, "%0");
  for (const unknown_attribute& typo : typos) {
    llvm::StringRef nearest;
    unsigned least = 3;  // edits; more are no typo
    for (const llvm::StringRef known : {"guide", "inside", "untouched"}) {
      const unsigned edits = llvm::StringRef(typo.text).edit_distance(known, true, least);
      if (edits >= least) continue;
      nearest = known;
      least = edits;
    }
    std::string text = "there is no attribute 'isotherm::" + typo.text + "', but ";
    text += nearest.empty() ? "guide, inside and untouched" : "'isotherm::" + nearest.str() + "'";
    auto said = to.Report(typo.name.getBegin(), id);
    said << text << typo.name;
    if (!nearest.empty()) said << FixItHint::CreateReplacement(typo.name, nearest);
  }
}

}  // namespace isotherm::compiler
