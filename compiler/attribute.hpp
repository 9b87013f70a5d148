// The attributes of declarations, as the rest of the front end asks for them.
#pragma once

namespace isotherm::compiler {

/// Whether one of our attributes has stood on a declaration of the sources that this process
/// compiles. Of a precompiled header it is not known.
bool saw_marks();

}  // namespace isotherm::compiler
