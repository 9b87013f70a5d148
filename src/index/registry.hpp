// How the registry (registry.cpp) makes each structure.
#pragma once

#include <cstddef>
#include <memory>

#include "index/index.hpp"

namespace isotherm::index {

/// A new `Structure` that holds its objects by guides or by plain pointers. Defined in adapter.hpp;
/// each structure's source instantiates its own, where the compiler sees the whole structure.
template <template <class> class Structure>
std::unique_ptr<any_index> make_adapter(management kind, std::size_t expected_keys);

/// A new tree whose nodes `chooser` places, over one of the storages for that.
template <template <class> class Structure, class Storage>
placed_index make_placed_adapter(placement::placer& chooser);

}  // namespace isotherm::index
