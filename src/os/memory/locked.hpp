// Memory that stays in DRAM.
#pragma once

#include <cstddef>

#include "base/error.hpp"

namespace isotherm::os {

/// Maps memory of `bytes`, whole pages, all of which are in DRAM and stay there (mlock(2)). For
/// release() of address_space.hpp. Errors: there is no memory, or RLIMIT_MEMLOCK, which does not
/// hold for root, allows no more.
base::result<void*> map_locked(std::size_t bytes);

}  // namespace isotherm::os
