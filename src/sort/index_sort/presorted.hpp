// Fixed records that are in order already, or exactly in reverse order: a scan recognises them, and
// they are copied.
#pragma once

#include <string_view>

#include "os/files/file.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// The names that reports give to these copies.
inline constexpr std::string_view kCopied = "copy";
inline constexpr std::string_view kCopiedBackwards = "reversed copy";

/// Copies an input that is in order, or in reverse order without equal keys, and says in `o` what
/// was done. Returns whether the input was so; also false after an error, which becomes the job's.
bool copy_presorted(const context& ctx, const os::file& out, outcome& o);

}  // namespace isotherm::sort
