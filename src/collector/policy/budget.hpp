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

/// The highest rate below which objects may be in COLD when no more than `misses` objects a window
/// are read there. `used`: the objects used in the window, by the rate that they had before it: had
/// all of a lower rate been in COLD, so many would have been read there. `known`: all objects whose
/// rate is known, whose uses are expected to be as many again: a window without uses does not let
/// everything go. kRates: all may.
unsigned cut_for_misses(const rate_histogram& used, const rate_histogram& known,
                        double misses) noexcept;

/// Misses that a window of so many seconds may have, in which `used` objects were used.
double allowed_misses(const options& chosen, std::uint64_t used, double seconds) noexcept;

std::unique_ptr<policy> make_budget_policy();

}  // namespace isotherm::collector
