#include "addresses/carrying.hpp"

#include "ast_facts.hpp"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace isotherm::compiler {

using namespace clang;

namespace {

using seen_types = llvm::SmallPtrSet<const Type*, 16>;

QualType plain(QualType type) { return type.getCanonicalType().getUnqualifiedType(); }

bool is_byte(QualType type) {
  return type->isVoidType() || type->isAnyCharacterType() || type->isStdByteType();
}

bool lies_in(QualType part, QualType object, seen_types& seen) {
  object = plain(object);
  if (part == object) return true;
  if (const ArrayType* array = object->getAsArrayTypeUnsafe()) {
    return lies_in(part, array->getElementType(), seen);
  }
  const CXXRecordDecl* record = object->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition()) return false;
  if (!seen.insert(object.getTypePtr()).second) return false;
  record = record->getDefinition();
  const auto holds = [&](QualType type) { return lies_in(part, type, seen); };
  return llvm::any_of(record->fields(), [&](auto* field) { return holds(field->getType()); }) ||
         llvm::any_of(record->bases(), [&](auto& base) { return holds(base.getType()); });
}

/// Whether both are classes, of which one derives from the other.
bool are_related(QualType one, QualType other) {
  const CXXRecordDecl* a = one->getAsCXXRecordDecl();
  const CXXRecordDecl* b = other->getAsCXXRecordDecl();
  if (a == nullptr || b == nullptr || !a->hasDefinition() || !b->hasDefinition()) return false;
  return a->isDerivedFrom(b) || b->isDerivedFrom(a);
}

/// The names of the classes of std that refer to what their first argument is, and own none of it.
bool is_view(llvm::StringRef name) {
  return llvm::is_contained({"basic_string_view", "span", "mdspan", "reference_wrapper",
                             "initializer_list", "ref_view", "_Ptr"},
                            name);
}
/// The names of those that may hold anything.
bool holds_anything(llvm::StringRef name) {
  return llvm::is_contained({"any", "function", "move_only_function", "packaged_task", "_Bind",
                             "_Bind_front", "exception_ptr"},
                            name);
}
/// The names of those that own bytes, or nothing.
bool holds_nothing(llvm::StringRef name) {
  return name.starts_with("basic_") && name != "basic_string_view";
}

bool carries(QualType type, QualType object, seen_types& seen);

bool class_of_std_carries(const CXXRecordDecl* record, QualType object, seen_types& seen) {
  const llvm::StringRef name = record->getName();
  if (holds_anything(name)) return true;
  if (holds_nothing(name)) return false;
  // Iterators of views are classes in these.
  const auto* const around = dyn_cast<CXXRecordDecl>(record->getDeclContext());
  if (around != nullptr && carries(QualType(around->getTypeForDecl(), 0), object, seen)) {
    return true;
  }
  const auto* made = dyn_cast<ClassTemplateSpecializationDecl>(record);
  if (made == nullptr) return false;
  const auto holds = [&](const TemplateArgument& argument) {
    if (argument.getKind() != TemplateArgument::Type) return false;
    const QualType type = argument.getAsType();
    if (type->isFunctionType()) return false;
    if (is_view(name) && is_part_of(type, object)) return true;
    return carries(type, object, seen);
  };
  for (const TemplateArgument& argument : made->getTemplateArgs().asArray()) {
    if (argument.getKind() == TemplateArgument::Pack ? llvm::any_of(argument.pack_elements(), holds)
                                                     : holds(argument)) {
      return true;
    }
  }
  return false;
}

bool class_carries(const CXXRecordDecl* record, QualType object, seen_types& seen) {
  // A marked field is the owner, and what it gives is looked at where it gives it.
  if (is_in_namespace(record, "isotherm")) return false;
  if (!record->hasDefinition()) return object.isNull();
  record = record->getDefinition();
  if (record->getIdentifier() != nullptr &&
      (is_in_namespace(record, "std") || is_in_namespace(record, "__gnu_cxx"))) {
    return class_of_std_carries(record, object, seen);
  }
  const auto holds = [&](QualType inner) { return carries(inner, object, seen); };
  return llvm::any_of(record->fields(), [&](auto* field) { return holds(field->getType()); }) ||
         llvm::any_of(record->bases(), [&](auto& base) { return holds(base.getType()); });
}

bool carries(QualType type, QualType object, seen_types& seen) {
  if (type.isNull() || type->isDependentType()) return false;
  type = plain(type);
  if (!seen.insert(type.getTypePtr()).second) return false;
  if (type->isPointerType() || type->isReferenceType()) {
    const QualType target = type->getPointeeType();
    if (target->isFunctionType()) return false;
    return is_part_of(target, object) || carries(target, object, seen);
  }
  if (const ArrayType* array = type->getAsArrayTypeUnsafe()) {
    return carries(array->getElementType(), object, seen);
  }
  if (const auto* atomic = type->getAs<AtomicType>()) {
    return carries(atomic->getValueType(), object, seen);
  }
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return record != nullptr && class_carries(record, object, seen);
}

}  // namespace

bool is_part_of(QualType part, QualType object) {
  if (object.isNull() || object->isVoidType() || is_byte(part)) return true;
  part = plain(part);
  while (const ArrayType* array = part->getAsArrayTypeUnsafe()) {
    part = plain(array->getElementType());
  }
  seen_types seen;
  return lies_in(part, object, seen) || are_related(part, object);
}

bool may_carry(QualType type, QualType object) {
  seen_types seen;
  return carries(type, object, seen);
}

llvm::StringRef std_class(QualType type) {
  if (type.isNull()) return "";
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (record == nullptr || record->getIdentifier() == nullptr || !is_in_namespace(record, "std")) {
    return "";
  }
  return record->getName();
}

bool has_its_elements_elsewhere(QualType type) {
  return llvm::is_contained({"vector",
                             "deque",
                             "list",
                             "forward_list",
                             "map",
                             "multimap",
                             "set",
                             "multiset",
                             "unordered_map",
                             "unordered_multimap",
                             "unordered_set",
                             "unordered_multiset",
                             "stack",
                             "queue",
                             "priority_queue",
                             "unique_ptr",
                             "shared_ptr",
                             "weak_ptr",
                             "basic_string_view",
                             "span",
                             "reference_wrapper"},
                            std_class(type));
}

bool stands_for_others(QualType type) {
  if (type.isNull()) return false;
  const CXXRecordDecl* const record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (record == nullptr || record->getIdentifier() == nullptr) return false;
  if (!is_in_namespace(record, "std") && !is_in_namespace(record, "__gnu_cxx")) return false;
  const llvm::StringRef name = record->getName();
  if (name.ends_with("iterator") || name == "_Iterator") return true;
  if (llvm::is_contained({"span", "mdspan", "reference_wrapper", "atomic_ref", "__atomic_ref"},
                         name))
    return true;
  const auto* const made = dyn_cast<ClassTemplateSpecializationDecl>(record);
  if (made == nullptr || !llvm::is_contained({"pair", "tuple"}, name)) return false;
  const auto is_reference = [](const TemplateArgument& each) {
    return each.getKind() == TemplateArgument::Type && each.getAsType()->isReferenceType();
  };
  return llvm::any_of(made->getTemplateArgs().asArray(), [&](const TemplateArgument& each) {
    return each.getKind() == TemplateArgument::Pack
               ? llvm::any_of(each.pack_elements(), is_reference)
               : is_reference(each);
  });
}

const CXXRecordDecl* closure_of(QualType type) {
  if (type.isNull()) return nullptr;
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record != nullptr && record->isLambda() ? record : nullptr;
}

QualType target_type(QualType type) {
  if (type.isNull()) return type;
  const QualType target = type->getPointeeType();
  return target.isNull() ? type : target;
}

}  // namespace isotherm::compiler
