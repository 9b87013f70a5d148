// The policy with a budget: it keeps objects that are worth their DRAM. Under a memory target it
// keeps those that are worth most, as many as have room. Without one, it lets those go whose
// misses, and those of objects in COLD already, are few enough together: a share of all uses, and
// of what the device can read (the five-minute rule with the device's own numbers; Appuswamy,
// Graefe, Borovica-Gajic, Ailamaki, CACM 2019).
#pragma once

#include <memory>

#include "collector/policy/policy.hpp"

namespace isotherm::collector {

std::unique_ptr<policy> make_budget_policy();

}  // namespace isotherm::collector
