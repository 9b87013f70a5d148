// Which functions of a module touch guides, and where a scope has to be (Dissertation 5.2.7.3).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace isotherm::compiler {

/// Facts that the pass knows of a function that is defined in the module.
struct function_facts {
  bool is_public = false, is_inside = false, knows = false, is_transparent = false;
  bool touches = false;        ///< holds an object's address, or may: it needs a scope around it
  bool calls_unknown = false;  ///< nobody knows what it calls
  bool is_covered = false;     ///< every call of it comes from within a scope
  bool is_entry = false;       ///< may be called from anywhere
  bool has_scope = false;      ///< gets one
  std::string reason;          ///< why it touches
};

class touching {
 public:
  explicit touching(llvm::Module& module);

  using facts_of = std::map<llvm::Function*, function_facts>;
  const facts_of& functions() const { return facts_; }
  /// Why `function` gets a scope, or none.
  std::string explain(llvm::Function* function) const;

 private:
  void take_marks();
  void look_at(llvm::Function& function);
  bool spread_touches();
  bool has_no_scope(const llvm::Function& callee) const;
  bool is_known_harmless(const llvm::Function& callee) const;
  void find_scopes();
  bool is_used_in_scopes_only(llvm::Function* function) const;
  bool has_mark(const llvm::Function* function, const char* mark) const;

  llvm::Module& module_;
  std::map<const llvm::Function*, std::vector<std::string>> marks_;
  facts_of facts_;
};

/// The function that `call` calls by its name; null: through a pointer.
llvm::Function* direct_callee(const llvm::CallBase& call);

/// `function`'s name as a person writes it.
std::string readable_name(const llvm::Function& function);

}  // namespace isotherm::compiler
