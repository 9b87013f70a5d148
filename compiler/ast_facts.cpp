#include "ast_facts.hpp"

#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"
#include "names.hpp"

namespace isotherm::compiler {

using namespace clang;

bool is_in_namespace(const Decl* declaration, std::string_view name) {
  const DeclContext* at = declaration->getDeclContext();
  if (const auto* self = dyn_cast<NamespaceDecl>(declaration)) at = self;
  for (; at != nullptr; at = at->getParent()) {
    const auto* space = dyn_cast<NamespaceDecl>(at);
    if (space != nullptr && space->getParent()->getRedeclContext()->isTranslationUnit() &&
        space->getName() == llvm::StringRef(name)) {
      return true;
    }
  }
  return false;
}

bool is_of_std_headers(const Decl* declaration) {
  if (!is_in_namespace(declaration, "std") && !is_in_namespace(declaration, "__gnu_cxx")) {
    return false;
  }
  return declaration->getASTContext().getSourceManager().isInSystemHeader(
      declaration->getLocation());
}

static bool is_ours(QualType type, llvm::StringRef name) {
  if (type.isNull()) return false;
  type = type.getNonReferenceType();
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (record == nullptr) {
    const auto* special = type->getAs<TemplateSpecializationType>();
    const TemplateDecl* made =
        special == nullptr ? nullptr : special->getTemplateName().getAsTemplateDecl();
    return made != nullptr && made->getName() == name && is_in_namespace(made, "isotherm");
  }
  return record->getIdentifier() != nullptr && record->getName() == name &&
         is_in_namespace(record, "isotherm");
}

bool is_marked(QualType type) { return is_ours(type, "marked"); }

QualType pointee_of_marked(QualType type) {
  if (!is_marked(type) || type->isDependentType()) return {};
  const auto* made = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
  return made == nullptr ? QualType() : made->getTemplateArgs()[0].getAsType();
}

bool has_annotation(const Decl* declaration, std::string_view text) {
  for (const auto* note : declaration->specific_attrs<AnnotateAttr>()) {
    if (note->getAnnotation() == llvm::StringRef(text)) return true;
  }
  return false;
}

bool holds_marked(const CXXRecordDecl* record) {
  if (record == nullptr || !record->hasDefinition()) return false;
  record = record->getDefinition();
  for (const FieldDecl* field : record->fields()) {
    if (is_marked(field->getType())) return true;
    const Type* held = field->getType()->getBaseElementTypeUnsafe();
    if (holds_marked(held->getAsCXXRecordDecl())) return true;
  }
  for (const CXXBaseSpecifier& base : record->bases()) {
    if (holds_marked(base.getType()->getAsCXXRecordDecl())) return true;
  }
  return false;
}

const CXXRecordDecl* bytes_with_guides(const Expr* argument) {
  for (;;) {
    argument = argument->IgnoreParens();
    const QualType type = argument->getType();
    const QualType object = type->isPointerType() ? type->getPointeeType() : type;
    const CXXRecordDecl* record = object->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    if ((type->isPointerType() || type->isArrayType()) && holds_marked(record)) return record;
    const auto* cast = dyn_cast<CastExpr>(argument);
    if (cast == nullptr) return nullptr;
    argument = cast->getSubExpr();
  }
}

bool reach::knows_type(QualType type) {
  if (type.isNull()) return false;
  if (is_marked(type)) return true;
  for (;;) {
    type = type.getNonReferenceType();
    if (type->isPointerType()) {
      type = type->getPointeeType();
    } else if (const ArrayType* array = type->getAsArrayTypeUnsafe()) {
      type = array->getElementType();
    } else {
      break;
    }
    if (is_marked(type)) return true;
  }
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return record != nullptr && knows(record);
}

const ClassTemplateDecl* template_of_ours(const ASTContext& context, llvm::StringRef name) {
  const auto& names = context.Idents;
  const auto found = names.find("isotherm"), inner = names.find(name);
  if (found == names.end() || inner == names.end()) return nullptr;
  for (const NamedDecl* space : context.getTranslationUnitDecl()->lookup(found->second)) {
    if (!isa<NamespaceDecl>(space)) continue;
    for (const NamedDecl* each : cast<NamespaceDecl>(space)->lookup(inner->second)) {
      if (const auto* made = dyn_cast<ClassTemplateDecl>(each)) return made;
    }
  }
  return nullptr;
}

bool are_there(const ClassTemplateDecl* made) {
  return made != nullptr && !made->specializations().empty();
}

bool reach::knows(const CXXRecordDecl* record) {
  // Before the first marked field no type reaches one.
  if (marked_ == nullptr) marked_ = template_of_ours(record->getASTContext(), "marked");
  if (!are_there(marked_)) return false;
  if (record->hasDefinition()) record = record->getDefinition();
  const auto [place, is_new] = known_.try_emplace(record, false);
  if (!is_new) return place->second;
  seen_.push_back(record);
  const bool is_outermost = seen_.size() == 1;
  const bool known = look(record);
  if (known) known_[record] = true;
  if (is_outermost) {
    // A "no" found during a walk that ended in "yes", or that met an incomplete class, is not
    // final: forget it.
    for (const CXXRecordDecl* other : seen_) {
      if ((known || saw_incomplete_) && !known_[other]) known_.erase(other);
    }
    seen_.clear();
    saw_incomplete_ = false;
  }
  return known;
}

bool reach::look(const CXXRecordDecl* record) {
  if (is_marked(QualType(record->getTypeForDecl(), 0))) return true;
  if (const auto* special = dyn_cast<ClassTemplateSpecializationDecl>(record)) {
    for (const TemplateArgument& argument : special->getTemplateArgs().asArray()) {
      if (argument.getKind() == TemplateArgument::Type && knows_type(argument.getAsType())) {
        return true;
      }
    }
  }
  if (!record->isCompleteDefinition()) {
    saw_incomplete_ = true;
    return false;
  }
  for (const FieldDecl* field : record->fields()) {
    if (knows_type(field->getType())) return true;
  }
  for (const CXXBaseSpecifier& base : record->bases()) {
    if (knows_type(base.getType())) return true;
  }
  for (const Decl* inner : record->decls()) {
    const auto* nested = dyn_cast<CXXRecordDecl>(inner);
    if (nested != nullptr && nested != record && !nested->isInjectedClassName() && knows(nested)) {
      return true;
    }
  }
  const auto* outer = dyn_cast<CXXRecordDecl>(record->getDeclContext());
  return outer != nullptr && knows(outer);
}

standing standing_of(const FunctionDecl* function) {
  if (is_in_namespace(function, "isotherm")) return standing::runtime;
  if (is_in_namespace(function, "std") || is_in_namespace(function, "__gnu_cxx")) {
    return standing::transparent;
  }
  if (has_annotation(function, kInside)) return standing::inside;
  const auto* method = dyn_cast<CXXMethodDecl>(function);
  if (method == nullptr) return standing::open;
  if (method->getParent()->isLambda()) return standing::inside;
  return method->getAccess() == AS_public || method->getAccess() == AS_none ? standing::open
                                                                            : standing::inside;
}

bool is_entry(const FunctionDecl* function) {
  return function != nullptr && standing_of(function) == standing::open &&
         (isa<CXXMethodDecl>(function) || function->isExternallyVisible());
}

const CXXMethodDecl* called_outside_as(const CXXMethodDecl* method) {
  const auto knows = [](const Decl* each) { return has_annotation(each, kKnows); };
  if (standing_of(method) != standing::inside || llvm::none_of(method->redecls(), knows)) {
    return method;
  }
  for (const CXXMethodDecl* overridden : method->overridden_methods()) {
    if (standing_of(overridden) == standing::runtime) continue;  // calls it in scopes
    if (const CXXMethodDecl* found = called_outside_as(overridden)) return found;
  }
  return nullptr;
}

bool is_std(const FunctionDecl* function, std::initializer_list<llvm::StringRef> names) {
  if (function == nullptr || function->getIdentifier() == nullptr) return false;
  if (!is_in_namespace(function, "std")) return false;
  return llvm::is_contained(names, function->getName());
}

bool returns_memory(const FunctionDecl* function) {
  const QualType type = function->getReturnType();
  return type->isPointerType() || type->isReferenceType();
}

bool is_jump(const FunctionDecl* callee) {
  return callee != nullptr && callee->getIdentifier() != nullptr &&
         llvm::is_contained({"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "longjmp", "_longjmp",
                             "siglongjmp", "__builtin_setjmp", "__builtin_longjmp"},
                            callee->getName());
}

struct kept_finder : code_visitor<kept_finder> {
  explicit kept_finder(kept_lambdas& found) : into(found) {}

  bool VisitCXXConstructExpr(CXXConstructExpr* made) {
    if (is_in_namespace(made->getConstructor(), "std")) keep(made->arguments(), into.by_std);
    if (is_entry(made->getConstructor())) keep(made->arguments(), into.by_entries);
    return true;
  }
  bool VisitCallExpr(CallExpr* call) {
    const FunctionDecl* const callee = call->getDirectCallee();
    const bool assigns = callee != nullptr && callee->getOverloadedOperator() == OO_Equal &&
                         is_in_namespace(callee, "std");
    if (assigns ||
        is_std(callee, {"async", "emplace", "emplace_back", "emplace_front", "try_emplace"})) {
      keep(call->arguments(), into.by_std);
    }
    const auto* method = dyn_cast_or_null<CXXMethodDecl>(callee);
    const bool is_of_lambda = method != nullptr && method->getParent()->isLambda();
    if (is_entry(callee) && !is_of_lambda) keep(call->arguments(), into.by_entries);
    return true;
  }
  template <class Arguments>
  void keep(const Arguments& arguments, kept_lambdas::classes& closures) {
    for (const Expr* argument : arguments) {
      const CXXRecordDecl* const closure = argument->getType()->getAsCXXRecordDecl();
      if (closure != nullptr && closure->isLambda()) closures.insert(closure);
    }
  }
  kept_lambdas& into;
};

void kept_lambdas::add(const Stmt* code) {
  kept_finder(*this).TraverseStmt(const_cast<Stmt*>(code));
}

const FunctionDecl* outermost(const FunctionDecl* function) {
  for (const DeclContext* at = function; at != nullptr; at = at->getParent()) {
    const auto* outer = dyn_cast<FunctionDecl>(at);
    if (outer != nullptr && outer->hasBody()) function = outer;
  }
  return function;
}

}  // namespace isotherm::compiler
