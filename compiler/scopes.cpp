#include "scopes.hpp"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"
#include "report.hpp"
#include "touching.hpp"

namespace isotherm::compiler {

using namespace llvm;

namespace {

FunctionCallee hook(Module& module, StringRef name) {
  LLVMContext& context = module.getContext();
  AttributeList attributes;
  attributes = attributes.addFnAttribute(context, Attribute::NoUnwind);
  return module.getOrInsertFunction(name, attributes, Type::getVoidTy(context));
}

/// A call with the location that verifiers want where both functions have debug information.
void call(IRBuilder<>& builder, FunctionCallee hook, Function& in) {
  if (!builder.getCurrentDebugLocation() && in.getSubprogram() != nullptr) {
    builder.SetCurrentDebugLocation(
        DILocation::get(in.getContext(), in.getSubprogram()->getLine(), 0, in.getSubprogram()));
  }
  builder.CreateCall(hook, {});
}

void put_scope(Function& function, FunctionCallee enter, FunctionCallee leave) {
  // EscapeEnumerator gives a function without a personality that of C, and what has two different
  // ones is not inlined into each other.
  if (!function.hasPersonalityFn() && !function.doesNotThrow()) {
    FunctionCallee personality = function.getParent()->getOrInsertFunction(
        "__gxx_personality_v0", FunctionType::get(Type::getInt32Ty(function.getContext()), true));
    function.setPersonalityFn(cast<Constant>(personality.getCallee()));
  }
  for (Instruction& instruction : instructions(function)) {
    // A tail call would leave the frame, whose exit has to close the scope.
    auto* const tail = dyn_cast<CallInst>(&instruction);
    if (tail != nullptr && tail->isTailCall() && !tail->isMustTailCall()) {
      tail->setTailCallKind(CallInst::TCK_None);
    }
  }
  // clang lets what no clause of a `try` matches pass by the frame, unless there is something to
  // clean up in it: here there is the scope.
  for (Instruction& instruction : instructions(function)) {
    if (auto* const pad = dyn_cast<LandingPadInst>(&instruction)) pad->setCleanup(true);
  }
  // Before EscapeEnumerator, which puts other instructions in the place of calls that may throw.
  BasicBlock& start = function.getEntryBlock();
  IRBuilder<> at_entry(&start, start.getFirstNonPHIOrDbgOrAlloca());
  at_entry.SetCurrentDebugLocation(DebugLoc());
  call(at_entry, enter, function);
  EscapeEnumerator exits(function, "isotherm.leave", true);
  while (IRBuilder<>* const at = exits.Next()) call(*at, leave, function);
}

/// For an inline function that has no scope, since this file calls it in scopes: linkers would take
/// it for that of a file which calls it outside of them, and the other way round.
void keep_in_file(Function& function) {
  function.setLinkage(GlobalValue::InternalLinkage);
  function.setComdat(nullptr);
}

}  // namespace

PreservedAnalyses scope_pass::run(Module& module, ModuleAnalysisManager&) {
  const touching found(module);
  const FunctionCallee enter = hook(module, "isotherm_enter_scope");
  const FunctionCallee leave = hook(module, "isotherm_leave_scope");
  for (const auto& [function, facts] : found.functions()) {
    if (facts.touches && function->isPresplitCoroutine()) {
      module.getContext().diagnose(DiagnosticInfoUnsupported(
          *function,
          "isotherm: a coroutine touches guides, and a scope cannot stay open over its "
          "suspension",
          function->getSubprogram()));
      continue;
    }
    if (facts.has_scope) put_scope(*function, enter, leave);
    if (facts.touches && facts.is_covered && function->hasLinkOnceLinkage()) {
      keep_in_file(*function);
    }
    if (facts.has_scope && options_.warns_main && function->getName() == "main") {
      module.getContext().diagnose(DiagnosticInfoUnsupported(
          *function,
          "isotherm: main() touches guides itself, and so has one scope until the program ends, "
          "which holds up the collector: move the use into a function [-Wisotherm-main]",
          function->getSubprogram(), DS_Warning));
    }
  }
  if (!options_.report.empty() && !write_report(found, options_.report)) {
    module.getContext().emitError("isotherm: cannot write " + Twine(options_.report));
  }
  return PreservedAnalyses::none();
}

}  // namespace isotherm::compiler
