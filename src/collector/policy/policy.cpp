#include "collector/policy/policy.hpp"

#include "collector/policy/budget.hpp"
#include "collector/policy/published.hpp"

namespace isotherm::collector {

std::unique_ptr<policy> make_policy(policy_name name) {
  return name == policy_name::budget ? make_budget_policy() : make_published_policy();
}

}  // namespace isotherm::collector
