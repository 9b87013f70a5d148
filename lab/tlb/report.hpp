// Results of isotherm bench tlb, as one JSON object and as a table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lab/tlb/tlb.hpp"

namespace isotherm::lab {

nlohmann::ordered_json to_json(const tlb_plan& plan, const tlb_result& found);

/// A table for a person, and the model beside it.
std::string to_text(const tlb_plan& plan, const tlb_result& found);

}  // namespace isotherm::lab
