// The objects of a window in reports: what ordering them by temperature would save.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pages/measure.hpp"

namespace isotherm::pages {

/// Returns the answer, and tables by size and by allocation site. Requires: the window has objects.
std::string objects_text(const window_report& w);

/// Returns all figures, sizes in bytes. docs/seeing/pages.md lists the fields.
nlohmann::json objects_json(const window_report& w);

}  // namespace isotherm::pages
