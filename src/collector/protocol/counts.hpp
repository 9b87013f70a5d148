// The papers' protocol (OBASE 4.5). In ACTIVE every open scope counts what it dereferences, so no
// scope uses an object without a count; the lock bit marks a copy in flight, and every dereference
// clears it.
//
//   collector: word has no count, CAS lock   |  thread: RMW (accessed, lock cleared, count + 1)
//   copy                                     |  uses the old address until its scope closes
//   CAS locked word -> moved word: fails     |
#pragma once

#include <memory>

#include "collector/protocol/protocol.hpp"

namespace isotherm::collector {

std::unique_ptr<migration_protocol> make_counts_protocol();

}  // namespace isotherm::collector
