// The policy with a budget: what is kept is what is worth its DRAM. With a memory target the
// objects that are worth most are kept, as many as have room. Without one, those are let go whose
// misses, and those of what is in COLD already, are few enough together: a share of all uses, and
// of what the device can read (the five-minute rule with the device's own numbers; Appuswamy,
// Graefe, Borovica-Gajic, Ailamaki, CACM 2019).
#pragma once

#include <memory>

#include "collector/policy/policy.hpp"

namespace isotherm::collector {

std::unique_ptr<policy> make_budget_policy();

}  // namespace isotherm::collector
