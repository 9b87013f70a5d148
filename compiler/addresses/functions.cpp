#include "addresses/functions.hpp"

#include "addresses/flow.hpp"
#include "addresses/origin.hpp"
#include "ast_facts.hpp"
#include "clang/AST/StmtCXX.h"
#include "complaints.hpp"

namespace isotherm::compiler {

using namespace clang;

void functions::add_held(QualType object) {
  held_.insert(object.getCanonicalType().getUnqualifiedType().getTypePtr());
}

bool functions::is_held(QualType object) const {
  return held_.contains(object.getCanonicalType().getUnqualifiedType().getTypePtr());
}

void functions::add_returning(const FunctionDecl* function) {
  returning_.insert(function->getCanonicalDecl());
  answers_.clear();  // what a function was found not to return it may return by way of this one
}

passing functions::of(const FunctionDecl* function, int index) const {
  const question asked{function->getCanonicalDecl(), index};
  const auto [place, is_new] = answers_.try_emplace(asked);
  if (!is_new) {
    took_for_granted_ |= llvm::is_contained(open_, asked);
    return place->second;
  }
  open_.push_back(asked);
  const passing answer = look(function->getDefinition(), index);
  open_.pop_back();
  answers_[asked] = answer;
  answered_.push_back(asked);
  if (open_.empty()) {
    for (const question& other : answered_) {
      if (took_for_granted_ && other != asked) answers_.erase(other);
    }
    answered_.clear();
    took_for_granted_ = false;
  }
  return answer;
}

passing functions::look(const FunctionDecl* function, int index) const {
  passing answer;
  const ParmVarDecl* parameter = nullptr;
  QualType object;
  if (index == kThis) {
    object = QualType(cast<CXXMethodDecl>(function)->getParent()->getTypeForDecl(), 0);
  } else {
    parameter = function->getParamDecl(static_cast<unsigned>(index));
    object = parameter->getType();
    // A view may lead to anything.
    if (object->isPointerType() || object->isReferenceType()) {
      object = object.getNonReferenceType();
    } else {
      object = {};
    }
  }
  if (isa<CoroutineBodyStmt>(function->getBody())) {
    answer.is_kept = true;
    answer.where = function->getLocation();
    return answer;
  }
  origins known(*this, parameter, object);
  known.learn(function->getBody());
  answer_question(function, known, answer);
  return answer;
}

}  // namespace isotherm::compiler
