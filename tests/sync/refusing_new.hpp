// operator new that refuses on demand: link refusing_new.cpp.
#pragma once

namespace isotherm::testing_help {

/// While true for the calling thread, operator new finds no memory, but for so many calls first.
extern thread_local bool refuses_memory;
extern thread_local int calls_before_refusal;

}  // namespace isotherm::testing_help
