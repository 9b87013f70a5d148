// The lines at the front of an input that are not sorted.
#pragma once

#include <cstdint>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Returns the bytes of the header lines of `input`, as many as there are.
base::result<std::uint64_t> header_bytes(const source& input, const sort_options& options);

/// Copies the header to the front of `out`, and ends its last line where the input does not.
void copy_header(const context& ctx, const os::file& out);

}  // namespace isotherm::sort
