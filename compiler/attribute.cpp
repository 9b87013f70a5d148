// [[isotherm::guide]], [[isotherm::inside]] and [[isotherm::untouched]].
//
// A field that is marked with the first gets the type isotherm::marked<T> in the place of T*, at
// the moment at which it is declared: whatever is parsed afterwards (the bodies of its class
// included) sees a class with operators of its own, and what must not be done with a guide is a
// matter of types. Rewriting sources would have to know of macros and headers; rewriting the
// intermediate language would not see the copy of a node that is made bytewise.
#include "attribute.hpp"

#include "ast_facts.hpp"
#include "clang/AST/Attr.h"
#include "clang/Basic/ParsedAttrInfo.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Lookup.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"
#include "names.hpp"

namespace isotherm::compiler {
namespace {

using namespace clang;

bool has_seen_marks = false;

void annotate(Sema& sema, Decl* declaration, const char* text, SourceRange where) {
  has_seen_marks = true;
  declaration->addAttr(AnnotateAttr::CreateImplicit(sema.Context, text, nullptr, 0, where));
}

template <std::size_t N>
bool refuse(Sema& sema, SourceLocation where, const char (&message)[N]) {
  sema.Diag(where, sema.getDiagnostics().getCustomDiagID(DiagnosticsEngine::Error, message));
  return false;
}

/// The template isotherm::marked; null where isotherm/compiler.hpp has not been included.
ClassTemplateDecl* find_marked(Sema& sema, SourceLocation where) {
  LookupResult space(sema, DeclarationName(&sema.Context.Idents.get("isotherm")), where,
                     Sema::LookupNamespaceName);
  sema.LookupQualifiedName(space, sema.Context.getTranslationUnitDecl());
  auto* const found = space.getAsSingle<NamespaceDecl>();
  if (found == nullptr) return nullptr;
  LookupResult name(sema, DeclarationName(&sema.Context.Idents.get("marked")), where,
                    Sema::LookupOrdinaryName);
  sema.LookupQualifiedName(name, found);
  return name.getAsSingle<ClassTemplateDecl>();
}

/// marked<pointee>; null when that is no type, which has been said.
QualType marked_type(Sema& sema, ClassTemplateDecl* marked, QualType pointee,
                     SourceLocation where) {
  TemplateArgumentListInfo arguments(where, where);
  arguments.addArgument(TemplateArgumentLoc(TemplateArgument(pointee),
                                            sema.Context.getTrivialTypeSourceInfo(pointee, where)));
  return sema.CheckTemplateIdType(TemplateName(marked), where, arguments);
}

bool may_be_guide(Sema& sema, const ParsedAttr& mark, const Decl* declaration) {
  const auto* field = dyn_cast<FieldDecl>(declaration);
  if (field == nullptr) {
    return refuse(sema, mark.getLoc(), "'isotherm::guide' stands on fields of classes only");
  }
  const QualType type = field->getType();
  if (!type->isPointerType()) {
    return refuse(sema, mark.getLoc(), "'isotherm::guide' stands on fields of pointer type only");
  }
  const QualType pointee = type->getPointeeType();
  if (pointee->isFunctionType() || pointee->isVoidType()) {
    return refuse(sema, mark.getLoc(),
                  "a guide owns an object of a known type: 'void *' and pointers to functions "
                  "cannot be marked");
  }
  if (pointee->isPointerType() || pointee.isVolatileQualified() || type.isVolatileQualified()) {
    return refuse(sema, mark.getLoc(),
                  "pointers to pointers and volatile pointers cannot be marked");
  }
  const auto is_union = [](const DeclContext* context) {
    const auto* record = dyn_cast<RecordDecl>(context);
    return record != nullptr && record->isUnion();
  };
  const DeclContext* around = field->getParent();
  while (!is_union(around) && around->isRecord()) around = around->getParent();
  if (is_union(around)) {
    return refuse(sema, mark.getLoc(),
                  "a member of a union cannot be marked: the collector would "
                  "read it while another member is there");
  }
  return true;
}

/// For one attribute without arguments.
struct our_attribute : ParsedAttrInfo {
  explicit our_attribute(const Spelling* spelling) { Spellings = llvm::ArrayRef(spelling, 1); }
};

struct guide_attribute : our_attribute {
  static constexpr Spelling kSpelling{ParsedAttr::AS_CXX11, "isotherm::guide"};
  guide_attribute() : our_attribute(&kSpelling) {}

  bool diagAppertainsToDecl(Sema& sema, const ParsedAttr& mark, const Decl* on) const override {
    return may_be_guide(sema, mark, on);
  }

  AttrHandling handleDeclAttribute(Sema& sema, Decl* on, const ParsedAttr& mark) const override {
    auto* const field = cast<FieldDecl>(on);
    const SourceLocation where = field->getLocation();
    ClassTemplateDecl* const marked = find_marked(sema, where);
    if (marked == nullptr) {
      refuse(sema, mark.getLoc(),
             "'isotherm::guide' needs '#include <isotherm/compiler.hpp>', compiled with "
             "-DISOTHERM_INSTRUMENTED, before it");
      return AttributeNotApplied;
    }
    const QualType type = marked_type(sema, marked, field->getType()->getPointeeType(), where);
    if (type.isNull()) return AttributeNotApplied;
    // Instantiates it: a class takes from its fields' classes that it has to be destroyed.
    if (!type->isDependentType() && !sema.isCompleteType(where, type)) return AttributeNotApplied;
    const QualType qualified = sema.Context.getQualifiedType(
        type, Qualifiers::fromFastMask(field->getType().getLocalFastQualifiers()));
    field->setType(qualified);
    field->setTypeSourceInfo(sema.Context.getTrivialTypeSourceInfo(qualified, where));
    annotate(sema, field, kGuide, mark.getRange());
    return AttributeApplied;
  }
};

struct function_attribute : our_attribute {
  function_attribute(const Spelling* spelling, const char* note)
      : our_attribute(spelling), note_(note) {}

  bool diagAppertainsToDecl(Sema& sema, const ParsedAttr& mark, const Decl* on) const override {
    return isa<FunctionDecl>(on) || isa<FunctionTemplateDecl>(on) ||
           refuse(sema, mark.getLoc(),
                  "'isotherm::inside' and 'isotherm::untouched' stand on functions only");
  }
  AttrHandling handleDeclAttribute(Sema& sema, Decl* on, const ParsedAttr& mark) const override {
    annotate(sema, on, note_, mark.getRange());
    // Written explicitly in the source, so callers get a scope even if the function's class cannot
    // reach marked fields.
    if (llvm::StringRef(note_) == kInside) {
      annotate(sema, on, kKnows, mark.getRange());
      annotate(sema, on, kSaid, mark.getRange());
    }
    return AttributeApplied;
  }

 private:
  const char* note_;
};

struct inside_attribute : function_attribute {
  static constexpr Spelling kSpelling{ParsedAttr::AS_CXX11, "isotherm::inside"};
  inside_attribute() : function_attribute(&kSpelling, kInside) {}
};
struct untouched_attribute : function_attribute {
  static constexpr Spelling kSpelling{ParsedAttr::AS_CXX11, "isotherm::untouched"};
  untouched_attribute() : function_attribute(&kSpelling, kUntouched) {}
};

const ParsedAttrInfoRegistry::Add<guide_attribute> guide("isotherm-guide", "");
const ParsedAttrInfoRegistry::Add<inside_attribute> inside("isotherm-inside", "");
const ParsedAttrInfoRegistry::Add<untouched_attribute> untouched("isotherm-untouched", "");

}  // namespace

bool saw_marks() { return has_seen_marks; }

}  // namespace isotherm::compiler
