// The collector as the server's commands see it.
#pragma once

#include <memory>

#include "collector/collector.hpp"
#include "server/management.hpp"

namespace isotherm::cli {

/// `running` must outlive the result and not be started yet. Problems of the cold heap are told on
/// standard error when they begin and when they end; `cold` says where that heap lies.
std::unique_ptr<server::management> make_management(collector::object_collector& running,
                                                    const heap::cold_backing& cold);

/// Refuses numbers out of the ranges that flags and ISOTHERM CONFIG SET share, with one line.
base::result<void> check_parameters(const collector::options& chosen);

/// "none", "cold" or "pageout".
base::result<heap::hint> parse_hint(std::string_view text);

}  // namespace isotherm::cli
