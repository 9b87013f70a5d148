// The simpler protocol. The accessed bits of the batch are clear; then every scope that was open
// closes. A scope that dereferenced before the clear has closed; one that dereferences after it
// sets the bit by a read-modify-write, which changes the word and so vetoes the commit.
// Dereferences never count and scopes keep no set.
#pragma once

#include <memory>

#include "collector/protocol/protocol.hpp"

namespace isotherm::collector {

std::unique_ptr<migration_protocol> make_veto_protocol();

}  // namespace isotherm::collector
