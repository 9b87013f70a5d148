// Scopes and safe memory reclamation: bracket each public operation with a scope; hand unlinked
// nodes to retire().
#pragma once

#include "sync/retire.hpp"
#include "sync/scope.hpp"

namespace isotherm {
using sync::retire;
using sync::scope;
}  // namespace isotherm
