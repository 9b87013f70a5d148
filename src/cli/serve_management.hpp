// The collector as the server's commands see it.
#pragma once

#include <memory>

#include "collector/collector.hpp"
#include "server/management.hpp"

namespace isotherm::cli {

/// `running` must outlive the result.
std::unique_ptr<server::management> make_management(collector::object_collector& running);

/// "none", "cold" or "pageout".
base::result<heap::hint> parse_hint(std::string_view text);

}  // namespace isotherm::cli
