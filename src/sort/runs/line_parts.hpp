// Entries of lines that are in memory, made by all threads.
#pragma once

#include <span>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Fills the front of `target` with the entries of whole lines of the input's bytes [at, until), in
/// their order, and moves `at` behind the last of them. Returns how many; 0 where the bytes are not
/// in memory, where a device is emulated, or where there are too few for several threads. The
/// caller goes on from `at`.
std::size_t load_lines_by_all(const context& ctx, std::span<entry> target, std::uint64_t& at,
                              std::uint64_t until);

}  // namespace isotherm::sort
