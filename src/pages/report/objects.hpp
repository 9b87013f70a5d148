// The objects of a window in reports: what ordering them by temperature would save.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pages/measure.hpp"

namespace isotherm::pages {

/// Returns the answer, and tables by size and by allocation site. `o` are the objects of `w`.
std::string objects_text(const window_report& w, const object_figures& o);

/// Returns all figures of the objects of `w`, sizes in bytes. docs/seeing/pages.md lists the
/// fields.
nlohmann::json objects_json(const window_report& w, const object_figures& o);

}  // namespace isotherm::pages
