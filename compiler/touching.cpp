// A function needs a scope when it holds the address of an object: it dereferences a guide, or
// calls something that does and has no scope of its own. Three kinds of functions:
//
//   entry    public methods, functions that are no methods and are visible outside of the file.
//            Called from anywhere, so each that touches gets a scope. A caller of an entry need not
//            have one: an address does not leave an entry (validation.cpp).
//   inner    methods that are not public, lambdas, functions of this file alone. Touches go through
//            to their callers. One gets a scope only if it is called from where there is none (a
//            lambda that becomes a thread's function).
//   std      never gets a scope; touches go through it, and so does "called from where there is
//            none".
//
// A call through a pointer, and of what is defined elsewhere, counts as a touch in a method whose
// class can reach marked fields, and in what calls a virtual method that is no entry. Elsewhere
// whoever is called has a scope of its own, since its address was taken or since it is an entry.
#include "touching.hpp"

#include <algorithm>
#include <optional>

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "names.hpp"

namespace isotherm::compiler {

using namespace llvm;

std::string readable_name(const Function& function) { return demangle(function.getName()); }

Function* direct_callee(const CallBase& call) {
  Value* called = call.getCalledOperand()->stripPointerCasts();
  if (auto* alias = dyn_cast<GlobalAlias>(called)) called = alias->getAliaseeObject();
  return dyn_cast<Function>(called);
}

touching::touching(Module& module) : module_(module) {
  take_marks();
  for (Function& function : module_) {
    if (!function.isDeclaration() && !has_mark(&function, kRuntime)) look_at(function);
  }
  while (spread_touches()) {
  }
  find_scopes();
}

/// A row of the list of annotations, where it is one of ours.
static std::optional<std::pair<Function*, StringRef>> mark_of(const Use& row) {
  const auto* const fields = cast<ConstantStruct>(row);
  auto* const function = dyn_cast<Function>(fields->getOperand(0)->stripPointerCasts());
  const auto* const text = dyn_cast<GlobalVariable>(fields->getOperand(1)->stripPointerCasts());
  if (function == nullptr || text == nullptr || !text->hasInitializer()) return std::nullopt;
  const auto* const characters = dyn_cast<ConstantDataArray>(text->getInitializer());
  if (characters == nullptr || !characters->isCString()) return std::nullopt;
  const StringRef mark = characters->getAsCString();
  if (!mark.starts_with("isotherm::")) return std::nullopt;
  return std::pair(function, mark);
}

/// Reads our marks, and removes them: as uses of their functions they would keep in the object each
/// one that has been inlined everywhere.
void touching::take_marks() {
  GlobalVariable* const all = module_.getGlobalVariable("llvm.global.annotations");
  if (all == nullptr || !all->hasInitializer()) return;
  auto* const rows = dyn_cast<ConstantArray>(all->getInitializer());
  if (rows == nullptr) return;
  std::vector<Constant*> others;
  for (const Use& row : rows->operands()) {
    if (const auto mark = mark_of(row)) {
      marks_[mark->first].push_back(mark->second.str());
    } else {
      others.push_back(cast<Constant>(row));
    }
  }
  if (!others.empty()) {
    auto* const type = ArrayType::get(rows->getType()->getElementType(), others.size());
    auto* const left = new GlobalVariable(module_, type, false, all->getLinkage(),
                                          ConstantArray::get(type, others));
    left->setSection(all->getSection());
    left->takeName(all);
  }
  all->eraseFromParent();
  for (const auto& [function, texts] : marks_) function->removeDeadConstantUsers();
}

bool touching::has_mark(const Function* function, const char* mark) const {
  const auto found = marks_.find(function);
  return found != marks_.end() &&
         std::find(found->second.begin(), found->second.end(), mark) != found->second.end();
}

/// Whether `symbol` is that of a function of namespace std or __gnu_cxx.
static bool is_of_std(StringRef symbol) {
  if (!symbol.consume_front("_Z")) return false;
  symbol = symbol.ltrim('Z');  // what is local to such a function
  if (symbol.consume_front("N")) symbol = symbol.ltrim("rVKRO");
  if (symbol.starts_with("9__gnu_cxx")) return true;
  return symbol.size() > 1 && symbol[0] == 'S' && StringRef("tabsiod").contains(symbol[1]);
}

static std::string place_of(const Instruction& instruction) {
  const DebugLoc& where = instruction.getDebugLoc();
  return where ? " in line " + std::to_string(where.getLine()) : "";
}

void touching::look_at(Function& function) {
  function_facts& facts = facts_[&function];
  facts.is_public = has_mark(&function, kPublic);
  facts.is_inside = has_mark(&function, kInside);
  facts.knows = has_mark(&function, kKnows) || has_mark(&function, kCallsInside);
  facts.is_transparent = has_mark(&function, kTransparent) || is_of_std(function.getName());
  facts.is_entry =
      !facts.is_transparent && !facts.is_inside && (facts.is_public || !function.hasLocalLinkage());
  if (has_mark(&function, kUntouched) && !facts.is_transparent) return;
  for (const Instruction& instruction : instructions(function)) {
    const auto* const call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr || isa<IntrinsicInst>(call) || call->isInlineAsm()) continue;
    const Function* const callee = direct_callee(*call);
    if (callee != nullptr && has_mark(callee, kTouch)) {
      facts.touches = true;
      facts.reason = "calls " + readable_name(*callee) + place_of(instruction);
      return;
    }
    const bool is_unknown =
        callee == nullptr || (callee->isDeclaration() && !is_known_harmless(*callee));
    if (!is_unknown) continue;
    if (callee != nullptr && has_no_scope(*callee)) {
      facts.touches = true;
      facts.reason = "calls " + readable_name(*callee) + ", which is defined elsewhere" +
                     place_of(instruction);
      return;
    }
    facts.calls_unknown = true;
    facts.reason =
        (callee == nullptr ? "calls through a pointer"
                           : "calls " + readable_name(*callee) + ", which is defined elsewhere") +
        place_of(instruction);
  }
  if (facts.knows && facts.calls_unknown) facts.touches = true;
}

/// Returns whether a function that is only declared here, and may touch, leaves the scope to its
/// caller.
bool touching::has_no_scope(const Function& callee) const {
  return has_mark(&callee, kTransparent) ||
         (has_mark(&callee, kInside) && (has_mark(&callee, kKnows) || has_mark(&callee, kGives)));
}

/// Returns whether a function that is only declared here is known to touch nothing.
bool touching::is_known_harmless(const Function& callee) const {
  if (has_mark(&callee, kUntouched) || has_mark(&callee, kRuntime)) return true;
  if (has_mark(&callee, kPublic)) return true;  // an entry
  if (has_no_scope(callee)) return false;
  if (is_of_std(callee.getName())) return true;  // is in the standard library
  // Functions that compilers call by themselves: new and delete of single objects and of arrays,
  // the wrappers of thread-local variables, and the language's runtime, whose names are reserved.
  const StringRef name = callee.getName();
  constexpr StringRef kPrefixes[] = {"_Znw", "_Zna", "_Zdl", "_Zda", "_ZTW", "__"};
  return name == "_Unwind_Resume" ||
         any_of(kPrefixes, [&](StringRef prefix) { return name.starts_with(prefix); });
}

/// One round; true when something changed.
bool touching::spread_touches() {
  bool has_changed = false;
  for (auto& [function, facts] : facts_) {
    if (facts.touches) continue;
    if (has_mark(function, kUntouched) && !facts.is_transparent) continue;
    for (const Instruction& instruction : instructions(*function)) {
      const auto* const call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr) continue;
      const auto callee = facts_.find(direct_callee(*call));
      if (callee == facts_.end() || callee->second.is_entry) continue;
      const bool passes_touch = callee->second.touches;
      const bool passes_unknown = callee->second.calls_unknown && !facts.calls_unknown;
      if (!passes_touch && !passes_unknown) continue;
      has_changed = true;
      facts.calls_unknown |= passes_unknown;
      facts.touches |= passes_touch || (facts.knows && facts.calls_unknown);
      facts.reason = "calls " + readable_name(*callee->first) + place_of(instruction);
      if (facts.touches) break;
    }
  }
  return has_changed;
}

/// Whether each use of `function` is a call by a function that is itself in a scope.
bool touching::is_used_in_scopes_only(Function* function) const {
  const auto is_annotation = [](const User* user) {
    return isa<Constant>(user) && !isa<GlobalValue>(user) &&
           std::all_of(user->user_begin(), user->user_end(), [](const User* outer) {
             return isa<ConstantArray>(outer) &&
                    std::all_of(outer->user_begin(), outer->user_end(), [](const User* all) {
                      return isa<GlobalVariable>(all) &&
                             all->getName() == "llvm.global.annotations";
                    });
           });
  };
  bool is_used = false;
  for (const Use& use : function->uses()) {
    if (is_annotation(use.getUser())) continue;
    is_used = true;
    const auto* const call = dyn_cast<CallBase>(use.getUser());
    if (call == nullptr || !call->isCallee(&use)) return false;
    const auto caller = facts_.find(const_cast<Function*>(call->getFunction()));
    if (caller == facts_.end()) return false;
    const function_facts& facts = caller->second;
    // A caller's own scope closes before a `musttail` call.
    const bool has_own_scope = facts.is_entry && facts.touches && !call->isMustTailCall();
    if (!has_own_scope && !facts.is_covered) return false;
  }
  return is_used;
}

void touching::find_scopes() {
  // A function that other files may call has a scope, since its callers there are not known. An
  // inline function has one in every file (scopes.cpp).
  for (auto& [function, facts] : facts_) {
    facts.is_covered =
        !facts.is_entry && (function->hasLocalLinkage() || function->hasLinkOnceLinkage());
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (auto& [function, facts] : facts_) {
      if (facts.is_covered && !is_used_in_scopes_only(function)) {
        facts.is_covered = false;
        has_changed = true;
      }
    }
  }
  for (auto& [function, facts] : facts_) {
    facts.has_scope = facts.touches && !facts.is_transparent && !facts.is_covered;
  }
}

std::string touching::explain(Function* function) const {
  const function_facts& facts = facts_.at(function);
  if (!facts.touches) return "touches no guide";
  if (facts.has_scope) {
    const std::string kind = facts.is_public  ? "public"
                             : facts.is_entry ? "free"
                                              : "called outside";
    return kind + ", " + facts.reason;
  }
  return facts.is_transparent ? "of std, " + facts.reason : "called in scopes, " + facts.reason;
}

}  // namespace isotherm::compiler
