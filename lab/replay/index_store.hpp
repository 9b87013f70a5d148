// An index of this process as a store for replays.
#pragma once

#include <memory>

#include "index/index.hpp"
#include "lab/replay/store.hpp"

namespace isotherm::replay {

/// Makes a store over `index`, which must outlive it.
std::unique_ptr<store> over_index(index::any_index& index);

}  // namespace isotherm::replay
