// The index of a program that ends with it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "index/index.hpp"

namespace isotherm::harness {

/// As index::make(), but the index lives until the process ends and is never taken apart: that
/// would read every cold page back from its disk, to free what the system takes back by itself. For
/// the one index of a program.
base::result<index::any_index*> make_lasting_index(std::string_view name, index::management kind,
                                                   std::uint64_t expected_keys);

/// As index::make_placed(), and lasting as well; so must `chooser` be.
base::result<index::placed_index*> make_lasting_placed(std::string_view name,
                                                       index::management kind,
                                                       placement::placer& chooser);

}  // namespace isotherm::harness
