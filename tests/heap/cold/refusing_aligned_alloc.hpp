// Memory for pages that are read, which is refused on demand: link refusing_aligned_alloc.cpp.
#pragma once

#include <atomic>

namespace isotherm::testing_help {

/// While true, aligned_alloc() finds no memory.
extern std::atomic<bool> refuses_pages;

}  // namespace isotherm::testing_help
