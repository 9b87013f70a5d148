// The policy with a budget: what is kept is what is worth its DRAM. An object's worth is its rate
// of use (temperature.hpp). With a memory target the objects used most are kept, as many as have
// room. Without one, those are let go whose misses are few enough: a share of all uses, and of what
// the device can read (the five-minute rule with the device's own numbers; Appuswamy, Graefe,
// Borovica-Gajic, Ailamaki, CACM 2019).
#pragma once

#include <cstdint>

#include "collector/policy/policy.hpp"
#include "collector/policy/temperature.hpp"

namespace isotherm::collector {

/// The highest rate below which objects may go to COLD, or stay there, when no more than `misses`
/// objects a window are to be read there. `warm`: objects in DRAM. `missed`: those of COLD that
/// were used in the window; the others of COLD are taken to have as many uses in the next.
unsigned cut_for_misses(const rate_histogram& warm, const rate_histogram& missed,
                        double misses) noexcept;

/// Misses that a window of so many seconds may have, in which `used` objects were used.
double allowed_misses(const options& chosen, std::uint64_t used, double seconds) noexcept;

std::unique_ptr<policy> make_budget_policy();

}  // namespace isotherm::collector
