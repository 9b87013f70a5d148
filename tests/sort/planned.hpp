// Plans for inputs that are known by their sizes alone.
#pragma once

#include "sort/algorithms/registry.hpp"

namespace isotherm::sort {

inline base::result<plan> planned(const sort_options& o, sort_algorithm algorithm,
                                  std::uint64_t input_bytes, const device::model* device) {
  const input_facts in{.bytes = input_bytes,
                       .records = input_bytes / o.record_bytes,
                       .record_bytes = static_cast<double>(o.record_bytes)};
  return make_plan(o, algorithm, facts_of(in, device));
}

}  // namespace isotherm::sort
