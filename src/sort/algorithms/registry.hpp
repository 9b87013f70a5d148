// The list of all algorithms.
#pragma once

#include <span>

#include "sort/algorithms/algorithm.hpp"

namespace isotherm::sort {

/// In the order in which they are listed to users.
std::span<const algorithm* const> algorithms() noexcept;
/// The algorithm with this id.
const algorithm& find(sort_algorithm id);

/// A plan for the algorithm with this id: see make_plan() in sort/plan/plan.hpp.
base::result<plan> make_plan(const sort_options& options, sort_algorithm algorithm,
                             const facts& known);

}  // namespace isotherm::sort
