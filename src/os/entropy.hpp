// Random bytes that cannot be foreseen outside the process.
#pragma once

#include <cstddef>
#include <span>

namespace isotherm::os {

/// Fills `bytes` (at most 256) from getrandom(2). Waits only early in a machine's boot. Any thread.
void fill_with_entropy(std::span<std::byte> bytes) noexcept;

}  // namespace isotherm::os
