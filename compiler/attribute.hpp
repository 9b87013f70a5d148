// What the attributes tell the rest of the front end.
#pragma once

namespace isotherm::compiler {

/// Whether one of our attributes has stood on a declaration of the sources that this process
/// compiles. Of a precompiled header it is not known.
bool saw_marks();

}  // namespace isotherm::compiler
