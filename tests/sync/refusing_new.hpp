// operator new that refuses on demand: link refusing_new.cpp.
#pragma once

namespace isotherm::testing_help {

/// Of the calling thread: while true, operator new finds no memory.
extern thread_local bool refuses_memory;

}  // namespace isotherm::testing_help
