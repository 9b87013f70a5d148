// The unit in which the kernel moves memory and files give back their blocks.
#pragma once

#include <cstddef>

namespace isotherm::base {

/// The page size of x86-64, and of AArch64 as it is commonly configured.
inline constexpr std::size_t kPageBytes = 4096;

}  // namespace isotherm::base
