// Sorting entries of an index map that do not hold their whole keys.
#pragma once

#include <span>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// The fate of all entries with a key but the first.
enum class equal_keys : std::uint8_t {
  stay,
  dropped,  ///< see entry_layout; they stay behind the first, and so can be counted
  removed
};

/// Sorts `entries`, in any order, by their whole keys. Returns how many are left, in front. Runs on
/// the plan's sorting threads; errors become the job's, and leave the entries in any order.
std::size_t sort_run(const context& ctx, std::span<entry> entries, equal_keys equal);

}  // namespace isotherm::sort
