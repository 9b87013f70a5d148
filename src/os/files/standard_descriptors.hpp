// Descriptors 0, 1 and 2 of a program that was started without some of them.
#pragma once

namespace isotherm::os {

/// Opens what the caller closed of the standard descriptors, so that no file of ours takes their
/// numbers and gets what is meant for them; in the wrong direction, so that using them fails.
/// Before any other file is opened. Ends the process where that cannot be done.
void take_standard_descriptors();

}  // namespace isotherm::os
