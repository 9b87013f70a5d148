// The sort of fixed records in parts of their order, for records that cost less to move twice than
// to look up by an index map.
#pragma once

#include "os/files/file.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Sorts the input to `out`; only with `plan.part_records`. Records that do not fit in memory go to
/// runs first. Errors become the job's.
void sort_in_parts(const context& ctx, const os::file& out, outcome& o);

/// The most bytes that such a sort's temporary file takes.
std::uint64_t bytes_of_parts(const plan& p, std::uint64_t input_bytes, std::uint64_t records);

}  // namespace isotherm::sort
