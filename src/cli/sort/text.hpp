// Words that the sorting commands share: progress, reports.
#pragma once

#include <isotherm/sort.hpp>

#include <cstdint>
#include <string>

namespace isotherm::cli {

/// The report as JSON, one object.
std::string to_json(const sort_report& report);
/// The report for a person.
std::string to_text(const sort_report& report);
/// The lines of --explain for one algorithm.
std::string to_text(const sort_prediction& prediction);

}  // namespace isotherm::cli
