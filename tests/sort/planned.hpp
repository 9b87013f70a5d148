// Plans for inputs that are known by their sizes alone.
#pragma once

#include "sort/algorithms/registry.hpp"

namespace isotherm::sort {

inline base::result<plan> planned(const sort_options& o, sort_algorithm algorithm,
                                  std::uint64_t input_bytes, const device::model* device) {
  return make_plan(o, algorithm, facts_of({.bytes = input_bytes}, device));
}

}  // namespace isotherm::sort
