#include "scopes.hpp"

#include "holding.hpp"
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

/// A call with the location that verifiers want where both functions have debug information: of no
/// line, so that a debugger stops at the statements of the source, and not before them.
void call(IRBuilder<>& builder, FunctionCallee hook, Function& in) {
  if (!builder.getCurrentDebugLocation() && in.getSubprogram() != nullptr) {
    builder.SetCurrentDebugLocation(DILocation::get(in.getContext(), 0, 0, in.getSubprogram()));
  }
  builder.CreateCall(hook, {});
}

/// Returns the instruction before which the scope opens: behind those that store the arguments in
/// the frame, from which a debugger reads them.
Instruction* beginning(BasicBlock& entry) {
  auto at = entry.getFirstNonPHIOrDbgOrAlloca();
  for (auto next = at; next != entry.end(); ++next) {
    if (!isa<AllocaInst, CastInst, GetElementPtrInst, StoreInst, IntrinsicInst>(*next)) break;
    const auto* const store = dyn_cast<StoreInst>(&*next);
    if (store == nullptr) continue;
    const Value* value = store->getValueOperand();
    while (const auto* cast = dyn_cast<CastInst>(value)) value = cast->getOperand(0);
    if (isa<Argument>(value)) at = std::next(next);
  }
  return &*at;
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
  IRBuilder<> at_entry(beginning(function.getEntryBlock()));
  at_entry.SetCurrentDebugLocation(DebugLoc());
  call(at_entry, enter, function);
  EscapeEnumerator exits(function, "isotherm.leave", true);
  while (IRBuilder<>* const at = exits.Next()) call(*at, leave, function);
}

/// Warns of a scope that stays open for long. Before it is put, as what it adds leads out of loops.
void warn_of_holding(Function& function, const touching& found, const options& chosen) {
  LLVMContext& context = function.getContext();
  if (function.getName() == "main") {
    if (!chosen.warns_main) return;
    context.diagnose(DiagnosticInfoUnsupported(
        function,
        "isotherm: main() touches guides itself, and so has one scope until the program ends, "
        "which holds up the collector: move the use into a function [-Wisotherm-main]",
        function.getSubprogram(), DS_Warning));
    return;
  }
  if (!chosen.warns_held) return;
  const std::optional<holding> held = held_by(function, found);
  if (!held) return;
  const DebugLoc where = held->at == nullptr ? DebugLoc() : held->at->getDebugLoc();
  context.diagnose(DiagnosticInfoUnsupported(
      function,
      "isotherm: '" + readable_name(function) + "' " + held->what +
          " while its scope is open, and the collector moves nothing meanwhile: move the use of "
          "guides into a function that it calls [-Wisotherm-held]",
      where ? DiagnosticLocation(where) : DiagnosticLocation(function.getSubprogram()),
      DS_Warning));
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
    if (facts.has_scope) {
      warn_of_holding(*function, found, options_);
      put_scope(*function, enter, leave);
    }
    if (facts.touches && facts.is_covered && function->hasLinkOnceLinkage()) {
      keep_in_file(*function);
    }
  }
  if (!options_.report.empty() && !write_report(found, options_.report)) {
    module.getContext().emitError("isotherm: cannot write " + Twine(options_.report));
  }
  return PreservedAnalyses::none();
}

}  // namespace isotherm::compiler
