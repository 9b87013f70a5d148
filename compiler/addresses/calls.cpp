#include "addresses/calls.hpp"

#include "addresses/carrying.hpp"
#include "ast_facts.hpp"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "names.hpp"

namespace isotherm::compiler {

using namespace clang;

const FunctionDecl* callee_of(const Expr* call) {
  if (const auto* made = dyn_cast<CXXConstructExpr>(call)) return made->getConstructor();
  return cast<CallExpr>(call)->getDirectCallee();
}

llvm::SmallVector<argument, 4> arguments_of(const Expr* call) {
  llvm::SmallVector<argument, 4> found;
  if (const auto* made = dyn_cast<CXXConstructExpr>(call)) {
    for (unsigned i = 0; i < made->getNumArgs(); ++i) {
      found.push_back({made->getArg(i), static_cast<int>(i)});
    }
    return found;
  }
  const auto* const of = cast<CallExpr>(call);
  const auto* const method = dyn_cast_or_null<CXXMethodDecl>(of->getDirectCallee());
  unsigned first = 0;
  if (const auto* member = dyn_cast<CXXMemberCallExpr>(of)) {
    if (const Expr* object = member->getImplicitObjectArgument()) {
      found.push_back({object, functions::kThis});
    }
  } else if (isa<CXXOperatorCallExpr>(of) && method != nullptr) {
    first = 1;
    if (!method->isStatic()) found.push_back({of->getArg(0), functions::kThis});
  }
  for (unsigned i = first; i < of->getNumArgs(); ++i) {
    found.push_back({of->getArg(i), static_cast<int>(i - first)});
  }
  return found;
}

/// Returns whether `callee` belongs to the C library or the system's calls, and is known to keep no
/// argument and to return nothing but its arguments.
static bool is_known_system_function(const FunctionDecl* callee) {
  const IdentifierInfo* const name = callee->getIdentifier();
  if (name == nullptr) return false;
  if (llvm::is_contained({"free", "realloc", "setvbuf", "strtok"}, name->getName())) return false;
  if (callee->getBuiltinID() != 0) return true;
  return llvm::is_contained({"read",
                             "write",
                             "pread",
                             "pwrite",
                             "readv",
                             "writev",
                             "send",
                             "recv",
                             "sendto",
                             "recvfrom",
                             "fread",
                             "fgets",
                             "fputs",
                             "puts",
                             "fputc",
                             "fwrite_unlocked",
                             "snprintf",
                             "vsnprintf",
                             "sscanf",
                             "strtol",
                             "strtoul",
                             "strtoll",
                             "strtoull",
                             "strtod",
                             "strtof",
                             "atoi",
                             "atol",
                             "atoll",
                             "atof",
                             "qsort",
                             "bsearch",
                             "strerror_r",
                             "strtok_r",
                             "open",
                             "stat",
                             "access",
                             "unlink",
                             "rename",
                             "mkdir",
                             "inet_pton",
                             "inet_ntop",
                             "strftime",
                             "gmtime_r",
                             "localtime_r",
                             "mktime",
                             "nanosleep",
                             "clock_gettime",
                             "pthread_mutex_lock",
                             "pthread_mutex_unlock",
                             "pthread_mutex_trylock",
                             "pthread_mutex_init",
                             "pthread_mutex_destroy",
                             "memchr",
                             "strchr",
                             "strrchr",
                             "strstr",
                             "strpbrk",
                             "memccpy",
                             "strlcpy",
                             "strlcat",
                             "explicit_bzero"},
                            name->getName());
}

callee_kind kind_of_callee(const Expr* call, int index, const functions& all) {
  const FunctionDecl* const callee = callee_of(call);
  if (callee == nullptr) return callee_kind::unknown;
  const standing stands = standing_of(callee);
  if (stands == standing::runtime) return callee_kind::runtime;
  if (stands == standing::transparent) return callee_kind::standard;
  const FunctionDecl* const definition = callee->getDefinition();
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const bool is_virtual = method != nullptr && method->isVirtual();
  if (definition != nullptr && definition->hasBody() && !is_virtual) return callee_kind::seen;
  if (callee->isImplicit() || callee->isDefaulted()) return callee_kind::runtime;
  const bool is_said = has_annotation(callee, kSaid);
  if (stands == standing::inside) {
    if (is_said || index == functions::kThis) return callee_kind::inside;
    if (static_cast<unsigned>(index) < callee->getNumParams() &&
        all.is_held(target_type(callee->getParamDecl(index)->getType()))) {
      return callee_kind::inside;
    }
  }
  if (index == functions::kThis) return callee_kind::of_object;
  if (is_known_system_function(callee)) return callee_kind::system;
  const SourceManager& sources = callee->getASTContext().getSourceManager();
  return callee->getLocation().isInvalid() || sources.isInSystemHeader(callee->getLocation())
             ? callee_kind::unknown
             : callee_kind::elsewhere;
}

origin origin_of(const argument& each, const FunctionDecl* callee, const origins& known) {
  if (is_marked(each.value->getType())) return {};
  if (callee != nullptr && each.index >= 0 &&
      static_cast<unsigned>(each.index) < callee->getNumParams()) {
    return known.of_value(callee->getParamDecl(static_cast<unsigned>(each.index))->getType(),
                          each.value);
  }
  return known.of(each.value);
}

bool is_exchange(const Expr* call) {
  const auto arguments = arguments_of(call);
  return is_std(callee_of(call), {"exchange"}) && arguments.size() == 2 &&
         is_marked(arguments[0].value->getType());
}

bool is_discard(const FunctionDecl* callee) {
  return callee != nullptr && callee->getIdentifier() != nullptr &&
         callee->getName() == "discard" && is_in_namespace(callee, "isotherm") &&
         callee->getNumParams() == 1 && callee->getParamDecl(0)->getType()->isPointerType();
}

/// Whether a call may change what is passed as `each`.
static bool may_change(const argument& each, const FunctionDecl* callee) {
  if (each.index == functions::kThis) {
    const auto* const method = cast<CXXMethodDecl>(callee);
    if (stands_for_others(QualType(method->getParent()->getTypeForDecl(), 0))) return true;
    return !isa<CXXConstructorDecl>(method) && !method->isConst();
  }
  if (static_cast<unsigned>(each.index) >= callee->getNumParams()) return false;
  const QualType type = callee->getParamDecl(static_cast<unsigned>(each.index))->getType();
  const CXXRecordDecl* const record = type->getAsCXXRecordDecl();
  if (record != nullptr && record->getIdentifier() != nullptr &&
      record->getName().ends_with("iterator")) {
    return true;  // writes there
  }
  return (type->isLValueReferenceType() || type->isPointerType()) &&
         !type->getPointeeType().isConstQualified();
}

const VarDecl* rebound_by(const Expr* call) {
  const auto* const assigned = dyn_cast<CXXOperatorCallExpr>(call);
  if (assigned == nullptr || assigned->getOperator() != OO_Equal) return nullptr;
  const auto* const method = dyn_cast_or_null<CXXMethodDecl>(assigned->getDirectCallee());
  if (method == nullptr ||
      !(method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator())) {
    return nullptr;
  }
  const auto* const named = dyn_cast<DeclRefExpr>(unwrapped(assigned->getArg(0)));
  const auto* const variable = named == nullptr ? nullptr : dyn_cast<VarDecl>(named->getDecl());
  if (variable == nullptr || !variable->hasLocalStorage()) return nullptr;
  const QualType type = variable->getType();
  // An assignment to a pair or a tuple of references is one to what these refer to.
  const bool writes_there = llvm::is_contained({"pair", "tuple"}, std_class(type));
  const bool is_other = type->isReferenceType() || writes_there || !stands_for_others(type);
  return is_other ? nullptr : variable;
}

/// Returns the places that an assignment to `to` writes: the arguments of std::tie(...), or `to`.
static llvm::SmallVector<const Expr*, 2> places_of(const Expr* to) {
  const auto* tied = dyn_cast<CallExpr>(unwrapped(to));
  if (tied == nullptr || !is_std(tied->getDirectCallee(), {"tie"})) return {to};
  return {tied->arg_begin(), tied->arg_end()};
}

llvm::SmallVector<sink, 2> sinks_of(const Expr* call, const origins& known) {
  llvm::SmallVector<sink, 2> found;
  const FunctionDecl* const callee = callee_of(call);
  if (callee == nullptr || standing_of(callee) != standing::transparent) return found;
  const auto arguments = arguments_of(call);
  for (const argument& to : arguments) {
    if (is_marked(to.value->getType()) || !may_change(to, callee)) continue;
    if (known.of_object(to.value)) continue;  // what is put there is looked at by itself
    const bool is_iterator = to.value->getType()->isRecordType() && to.value->isPRValue();
    if (is_iterator && known.of(to.value)) continue;  // leads there already
    QualType place = to.value->getType();
    if (place->isPointerType()) {
      if (to.index == functions::kThis ||
          callee->getParamDecl(to.index)->getType()->isPointerType()) {
        place = place->getPointeeType();
      }
    }
    for (const argument& from : arguments) {
      if (from.value == to.value) continue;
      const origin given = origin_of(from, callee, known);
      const bool is_copy = from.value->isGLValue() && known.of_object(from.value) &&
                           !may_carry(from.value->getType(), given.object);
      // A copy of an element has no address of it.
      if (!given || !may_carry(place, given.object)) continue;
      if (is_copy && is_part_of(from.value->getType(), place)) continue;
      const bool is_captured = closure_of(from.value->getType()) != nullptr;
      for (const Expr* place_of : places_of(to.value)) {
        found.push_back({place_of, given, is_captured});
      }
    }
  }
  return found;
}

llvm::SmallVector<const FunctionDecl*, 2> callables_of(const Expr* value) {
  llvm::SmallVector<const FunctionDecl*, 2> found;
  const Expr* const plain = unwrapped(value)->IgnoreParenImpCasts();
  if (const auto* named = dyn_cast<DeclRefExpr>(plain)) {
    if (const auto* function = dyn_cast<FunctionDecl>(named->getDecl())) {
      found.push_back(function);
      return found;
    }
  }
  const QualType type = value->getType().getNonReferenceType();
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition() || is_in_namespace(record, "std")) return found;
  const DeclarationName call = record->getASTContext().DeclarationNames.getCXXOperatorName(OO_Call);
  for (const NamedDecl* each : record->getDefinition()->lookup(call)) {
    if (const auto* method = dyn_cast<CXXMethodDecl>(each)) found.push_back(method);
    if (const auto* made = dyn_cast<FunctionTemplateDecl>(each)) {
      for (const FunctionDecl* instance : made->specializations()) found.push_back(instance);
    }
  }
  return found;
}

/// Whether `type` is made of a lambda that returns an address.
static bool is_of_returning_lambda(QualType type, const functions& all, unsigned depth = 0) {
  constexpr unsigned kDeepest = 6;
  if (type.isNull() || depth > kDeepest) return false;
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (record == nullptr) return false;
  if (record->isLambda()) {
    const CXXMethodDecl* const called = record->getLambdaCallOperator();
    if (called == nullptr) return false;
    const auto* const made = called->getDescribedFunctionTemplate();
    if (made == nullptr) return all.returns(called);
    return llvm::any_of(made->specializations(), [&](auto* each) { return all.returns(each); });
  }
  const auto* special = dyn_cast<ClassTemplateSpecializationDecl>(record);
  if (special == nullptr || !is_in_namespace(special, "std")) return false;
  return llvm::any_of(special->getTemplateArgs().asArray(), [&](const TemplateArgument& each) {
    return each.getKind() == TemplateArgument::Type &&
           is_of_returning_lambda(each.getAsType(), all, depth + 1);
  });
}

bool calls_a_returning_lambda(const Expr* call, const functions& all) {
  const FunctionDecl* const callee = callee_of(call);
  if (callee == nullptr || standing_of(callee) != standing::transparent) return false;
  return llvm::any_of(arguments_of(call), [&](const argument& each) {
    return is_of_returning_lambda(each.value->getType(), all);
  });
}

}  // namespace isotherm::compiler
