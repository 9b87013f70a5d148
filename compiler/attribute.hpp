// The attributes of declarations, as the rest of the front end asks for them.
#pragma once

namespace isotherm::compiler {

/// Returns whether one of our attributes stood on a declaration that this process has parsed.
/// Attributes in a precompiled header are not seen.
bool saw_marks();

}  // namespace isotherm::compiler
