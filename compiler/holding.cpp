#include "holding.hpp"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

namespace isotherm::compiler {

using namespace llvm;

namespace {

/// Functions of the system that wait for time to pass, for another thread, or for a peer.
const StringSet<>& waiting_functions() {
  static const StringSet<> all{"accept",
                               "accept4",
                               "clock_nanosleep",
                               "connect",
                               "epoll_pwait",
                               "epoll_wait",
                               "nanosleep",
                               "pause",
                               "poll",
                               "ppoll",
                               "pselect",
                               "pthread_barrier_wait",
                               "pthread_cond_timedwait",
                               "pthread_cond_wait",
                               "pthread_join",
                               "recv",
                               "recvfrom",
                               "recvmsg",
                               "select",
                               "sem_timedwait",
                               "sem_wait",
                               "sigsuspend",
                               "sigwait",
                               "sleep",
                               "usleep",
                               "wait",
                               "waitpid",
                               "_ZNSt6thread4joinEv",
                               "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"};
  return all;
}

/// Returns a block that the function, once there, leaves by exceptions only; null: there is none.
const BasicBlock* endless(const Function& function) {
  SmallPtrSet<const BasicBlock*, 32> ends;  // from which an end of the function can be reached
  SmallVector<const BasicBlock*, 32> open;
  for (const BasicBlock& block : function) {
    if (succ_empty(&block)) open.push_back(&block);
  }
  while (!open.empty()) {
    const BasicBlock* const block = open.pop_back_val();
    if (!ends.insert(block).second) continue;
    for (const BasicBlock* before : predecessors(block)) {
      const auto* const call = dyn_cast<InvokeInst>(before->getTerminator());
      if (call == nullptr || call->getUnwindDest() != block) open.push_back(before);
    }
  }
  for (const BasicBlock& block : function) {
    if (!ends.contains(&block) && (&block == &function.getEntryBlock() || !pred_empty(&block))) {
      return &block;
    }
  }
  return nullptr;
}

class search {
 public:
  explicit search(const touching& found) : found_(found) {}

  std::optional<holding> in(Function& function) {
    if (!seen_.insert(&function).second) return std::nullopt;
    if (const BasicBlock* const loop = endless(function)) {
      return holding{"has a loop that does not end", loop->getTerminator()};
    }
    for (const Instruction& instruction : instructions(function)) {
      const auto* const call = dyn_cast<CallBase>(&instruction);
      Function* const callee = call == nullptr ? nullptr : direct_callee(*call);
      if (callee == nullptr) continue;
      if (waiting_functions().contains(callee->getName())) {
        return holding{"waits by " + readable_name(*callee), call};
      }
      const auto known = found_.functions().find(callee);
      if (known == found_.functions().end() || !is_in_the_same(known->second)) continue;
      if (auto inner = in(*callee)) return holding{inner->what, call};
    }
    return std::nullopt;
  }

 private:
  /// Whether a function with these facts has no scope of its own.
  static bool is_in_the_same(const function_facts& facts) {
    return facts.is_transparent || facts.is_covered;
  }

  const touching& found_;
  SmallPtrSet<const Function*, 16> seen_;
};

}  // namespace

std::optional<holding> held_by(Function& function, const touching& found) {
  return search(found).in(function);
}

}  // namespace isotherm::compiler
