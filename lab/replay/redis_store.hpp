// A server that speaks the Redis protocol as a store for replays: GET, SET with PX, DEL and INCR.
#pragma once

#include <memory>

#include "lab/replay/store.hpp"
#include "tool/address.hpp"

namespace isotherm::replay {

/// Makes a store over the server at `where`, which speaks the Redis protocol. Connects nothing yet.
std::unique_ptr<store> over_redis(const tool::address& where);

}  // namespace isotherm::replay
