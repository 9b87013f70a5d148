// Fixed records that are in order already, or exactly the wrong way round: recognised by a scan,
// and copied.
#pragma once

#include <string_view>

#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// How reports name what ran.
inline constexpr std::string_view kCopied = "copy";
inline constexpr std::string_view kCopiedBackwards = "reversed copy";

/// Whether the input was in order, or in the reverse order without equal keys: if so, all of the
/// output is written, and `o` says what. False as well after an error, which is the job's.
bool copy_presorted(const context& ctx, const device::file& out, outcome& o);

}  // namespace isotherm::sort
