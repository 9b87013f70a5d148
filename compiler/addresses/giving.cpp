// Values that are given to marked fields.
#include "addresses/carrying.hpp"
#include "addresses/flow_visitor.hpp"
#include "clang/AST/CXXInheritance.h"
#include "clang/AST/RecordLayout.h"

namespace isotherm::compiler {

using namespace clang;

namespace {

/// Whether a `base` does not begin where an object of class `derived` does.
bool has_another_address(QualType derived, QualType base) {
  const CXXRecordDecl* from = derived->getAsCXXRecordDecl();
  const CXXRecordDecl* to = base->getAsCXXRecordDecl();
  if (from == nullptr || to == nullptr || !from->hasDefinition() || !to->hasDefinition()) {
    return false;
  }
  CXXBasePaths paths;
  if (from == to || !from->isDerivedFrom(to, paths)) return false;
  for (const CXXBasePathElement& step : paths.front()) {
    if (step.Base->isVirtual()) return true;
    const ASTRecordLayout& layout = step.Class->getASTContext().getASTRecordLayout(step.Class);
    const CXXRecordDecl* next = step.Base->getType()->getAsCXXRecordDecl();
    if (!layout.getBaseClassOffset(next).isZero()) return true;
  }
  return false;
}

}  // namespace

void flow::refuse_new(const CXXNewExpr* made, const ValueDecl* guide) {
  const std::string type = complain_.text_of(made->getAllocatedType());
  llvm::SmallVector<FixItHint, 3> fixes;
  const SourceRange name = made->getAllocatedTypeSourceInfo()->getTypeLoc().getSourceRange();
  if (!made->isArray() && made->getNumPlacementArgs() == 0 && !made->getTypeIdParens().isValid()) {
    fixes.push_back(
        FixItHint::CreateReplacement(SourceRange(made->getBeginLoc(), name.getEnd()),
                                     "isotherm::make<" + complain_.text_of(name) + ">"));
    if (made->getInitializationStyle() == CXXNewInitializationStyle::Braces) {
      const SourceRange braces = made->getInitializer()->getSourceRange();
      fixes.push_back(FixItHint::CreateReplacement(braces.getBegin(), "("));
      fixes.push_back(FixItHint::CreateReplacement(braces.getEnd(), ")"));
    } else if (made->getInitializationStyle() == CXXNewInitializationStyle::None) {
      fixes.push_back(FixItHint::CreateInsertion(complain_.end_of(name.getEnd()), "()"));
    }
  }
  complain_.error(
      made->getSourceRange(),
      complaints::named(guide) + " takes what isotherm::make<" + type + ">() makes, not 'new'",
      guide, fixes);
}

/// False where `value`, which a guide takes, does not come from make(), which has been said.
bool flow::check_is_made(const Expr* value, const ValueDecl* guide) {
  const VarDecl* const variable = origins::variable_read(value);
  const local_origin known = variable == nullptr ? local_origin{} : known_.local(variable);
  const Expr* const given = known.not_made != nullptr ? known.not_made : not_made(value);
  if (given == nullptr) return true;
  if (const auto* made = dyn_cast<CXXNewExpr>(given)) {
    refuse_new(made, guide);
    return false;
  }
  const auto* const taken = dyn_cast<UnaryOperator>(given);
  if (taken != nullptr && known_.of_object(taken->getSubExpr())) return true;
  const std::string of = taken != nullptr ? "the address of a variable"
                                          : "memory from " + name_of_called(callee_of(given));
  complain_.error(given->getSourceRange(),
                  complaints::named(guide) + " takes what isotherm::make() makes, not " + of,
                  guide);
  return false;
}

/// Whether `value` is a pointer that stays in the place, no local variable, that it is read from.
static bool stays_elsewhere(const Expr* value) {
  value = unwrapped(value);
  while (const auto* cast = dyn_cast<CastExpr>(value)) {
    value = unwrapped(cast->getSubExpr());
    if (cast->getCastKind() == CK_LValueToRValue) {
      return origins::variable_read(value) == nullptr;
    }
  }
  return false;
}

/// `value` becomes what `guide` points to.
void flow::check_guide_gets(const Expr* value, const ValueDecl* guide) {
  const VarDecl* const variable = origins::variable_read(value);
  const origin found = known_.of_address(value);
  if (answer_ != nullptr) {
    answer_->is_given |= static_cast<bool>(found);
    return;
  }
  if (!check_is_made(value, guide)) return;
  const SourceRange where = value->getSourceRange();
  const std::string name = complaints::named(guide);
  if (found.kind == origin::inner && !found.is_made) {
    return complain_.error(
        where,
        name + " takes whole objects, not a part of the one that " + source_of(found) + " holds",
        guide);
  }
  if (variable == nullptr && found && known_.is_from_guides_only(value)) {
    return complain_.error(where,
                           name + " would hold the object of " + source_of(found) +
                               " too, and an object moves with one guide: hand it over by "
                               "std::exchange(..., nullptr)",
                           guide);
  }
  if (variable == nullptr ? stays_elsewhere(value) : known_.local(variable).from_memory) {
    return complain_.error(where,
                           name +
                               " takes an object whose address stays where it is read from: "
                               "hand it over by std::exchange(..., nullptr)",
                           guide);
  }
  const QualType held = guide == nullptr ? QualType() : pointee_of_marked(guide->getType());
  if (!held.isNull() && found && !found.object.isNull() &&
      has_another_address(found.object, held)) {
    complain_.error(where,
                    name + " takes the address at which an object begins, and " +
                        complain_.name_of(held) + " is no first part of " +
                        complain_.name_of(found.object),
                    guide);
  }
}

}  // namespace isotherm::compiler
