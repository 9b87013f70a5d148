// A report for people: the functions that touch guides, which of them were instrumented, and why.
#pragma once

#include "touching.hpp"

namespace isotherm::compiler {

/// Writes a line for each function of the module that touches guides: "scope" or "none", its name,
/// and the reason, with tabs between. False where `path` cannot be written.
bool write_report(const touching& found, const std::string& path);

}  // namespace isotherm::compiler
