// Scopes and safe memory reclamation: bracket each public operation with a scope; hand unlinked
// nodes to retire().
#pragma once

#include "sync/retire.hpp"
#include "sync/scope.hpp"

namespace isotherm {
using sync::reclaim_ready;
using sync::retire;
using sync::retired_bytes;
using sync::scope;
}  // namespace isotherm
