// The report of an observation for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "pages/observe.hpp"

namespace isotherm::pages {

/// Returns {"pages": source, "windows": [...], ...}: all figures of all windows, sizes in bytes and
/// shares from 0 to 1. docs/seeing/pages.md lists the fields.
nlohmann::json to_json(const observation& seen);

}  // namespace isotherm::pages
