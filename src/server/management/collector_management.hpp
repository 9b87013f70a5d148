// The access of the server's commands to the object collector.
#pragma once

#include <memory>

#include "collector/collector.hpp"
#include "server/management/management.hpp"

namespace isotherm::server {

/// `running` must outlive the result, and must not have been started yet. Problems of the cold heap
/// are reported on standard error when they begin and when they end; `cold` says where that heap
/// lies.
std::unique_ptr<management> make_management(collector::object_collector& running,
                                            const heap::cold_backing& cold);

}  // namespace isotherm::server
