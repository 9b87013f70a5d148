// The algorithms there are.
#pragma once

#include <span>

#include "sort/algorithms/algorithm.hpp"

namespace isotherm::sort {

/// In the order in which users are told of them.
std::span<const algorithm* const> algorithms() noexcept;
const algorithm& find(sort_algorithm id);

/// A plan for the algorithm of that name: see make_plan() in sort/plan/plan.hpp.
base::result<plan> make_plan(const sort_options& options, sort_algorithm algorithm,
                             std::uint64_t input_bytes, const device::model* device);

}  // namespace isotherm::sort
