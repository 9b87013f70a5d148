// The lines at the front of an output that are not sorted.
#pragma once

#include <cstdint>
#include <vector>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Returns the row that --count of CSV writes instead of the header of `input`, which has `bytes`
/// bytes: the name "count" and the names of the keys' columns. Empty for all other sorts.
base::result<std::vector<std::byte>> counted_header(const source& input, std::uint64_t bytes,
                                                    const record_layout& layout,
                                                    const sort_options& options);

/// Writes `counted` to the front of `out` or, if it is empty, the header of the input.
void write_header(const context& ctx, bytes_view counted, const os::file& out);

}  // namespace isotherm::sort
