// isotherm-clang.so: the front end (attribute.cpp, marking.cpp, validation.cpp) and the pass
// (scopes.cpp) by one -fplugin flag.
#include "ast_facts.hpp"
#include "clang/AST/ASTConsumer.h"
#include "clang/Basic/CodeGenOptions.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "hints.hpp"
#include "llvm/Passes/PassBuilder.h"
#include "marking.hpp"
#include "options.hpp"
#include "scopes.hpp"
#include "validation.hpp"

namespace isotherm::compiler {
namespace {

using namespace clang;

/// Sees each declaration before code is made of it.
class consumer : public ASTConsumer {
 public:
  consumer(const options& chosen, std::shared_ptr<including_files> including,
           std::shared_ptr<unknown_attributes> typos)
      : options_(chosen), including_(std::move(including)), typos_(std::move(typos)) {}

  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* declaration : group) mark(declaration);
    return true;
  }
  void HandleInlineFunctionDefinition(FunctionDecl* function) override { mark(function); }
  void HandleTagDeclDefinition(TagDecl* type) override {
    auto* const record = dyn_cast<CXXRecordDecl>(type);
    if (record != nullptr && !is_of_std_headers(record)) {
      for (CXXMethodDecl* method : record->methods()) mark_function(method, classes_);
    }
  }
  void HandleTranslationUnit(ASTContext& context) override {
    report(*typos_, context.getDiagnostics());
    // Also of a source with errors, so that one compilation reports all.
    if (!context.getDiagnostics().hasFatalErrorOccurred()) {
      validate(context, *including_, options_);
    }
  }

 private:
  void mark(Decl* declaration) {
    if (auto* const space = dyn_cast<DeclContext>(declaration);
        space != nullptr && (isa<LinkageSpecDecl>(space) || isa<NamespaceDecl>(space))) {
      for (Decl* inner : space->decls()) mark(inner);
    }
    auto* const function = dyn_cast<FunctionDecl>(declaration);
    if (function == nullptr || function->isDependentContext()) return;
    if (is_of_std_headers(function)) return;
    mark_function(function, classes_);
    if (function->doesThisDeclarationHaveABody()) mark_callees(function, classes_);
  }

  options options_;
  std::shared_ptr<including_files> including_;
  std::shared_ptr<unknown_attributes> typos_;
  reach classes_;
};

/// Notes which files include isotherm/compiler.hpp.
class include_watch : public PPCallbacks {
 public:
  include_watch(SourceManager& sources, std::shared_ptr<including_files> into)
      : sources_(sources), into_(std::move(into)) {}

  void InclusionDirective(SourceLocation where, const Token&, llvm::StringRef name, bool,
                          CharSourceRange, OptionalFileEntryRef, llvm::StringRef, llvm::StringRef,
                          const Module*, bool, SrcMgr::CharacteristicKind) override {
    if (name == "isotherm/compiler.hpp") into_->files.insert(sources_.getFileID(where));
  }

 private:
  SourceManager& sources_;
  std::shared_ptr<including_files> into_;
};

class action : public PluginASTAction {
 public:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler,
                                                 llvm::StringRef) override {
    DiagnosticsEngine& diagnostics = compiler.getDiagnostics();
    if (compiler.getLangOpts().isCompilingModule()) {
      diagnostics.Report(diagnostics.getCustomDiagID(
          DiagnosticsEngine::Error,
          "isotherm-clang.so does not instrument C++20 modules: put marked classes into headers, "
          "or compile this module without the plugin"));
    }
    if (compiler.getCodeGenOpts().DisableLLVMPasses) {
      diagnostics.Report(diagnostics.getCustomDiagID(
          DiagnosticsEngine::Error,
          "isotherm-clang.so cannot put scopes where clang runs no passes on the code that it "
          "makes: compile without -save-temps and -disable-llvm-passes"));
    }
    compiler.getCodeGenOpts().PassBuilderCallbacks.push_back(
        [chosen = options_](llvm::PassBuilder& builder) {
          builder.registerPipelineStartEPCallback(
              [chosen](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
                passes.addPass(scope_pass(chosen));
              });
        });
    auto including = std::make_shared<including_files>();
    including->are_known = !compiler.getFrontendOpts().Inputs.front().getKind().isPreprocessed();
    compiler.getPreprocessor().addPPCallbacks(
        std::make_unique<include_watch>(compiler.getSourceManager(), including));
    auto typos = std::make_shared<unknown_attributes>();
    give_hints(compiler, typos);
    return std::make_unique<consumer>(options_, including, typos);
  }

  bool ParseArgs(const CompilerInstance& compiler,
                 const std::vector<std::string>& arguments) override {
    for (const std::string& argument : arguments) {
      if (parse_option(options_, argument)) continue;
      DiagnosticsEngine& diagnostics = compiler.getDiagnostics();
      diagnostics.Report(diagnostics.getCustomDiagID(DiagnosticsEngine::Error,
                                                     "isotherm-clang.so has no option '%0'"))
          << argument;
      return false;
    }
    return true;
  }

  ActionType getActionType() override { return AddBeforeMainAction; }

 private:
  options options_;
};

const FrontendPluginRegistry::Add<action> registered("isotherm", "marked pointers become guides");

}  // namespace
}  // namespace isotherm::compiler
