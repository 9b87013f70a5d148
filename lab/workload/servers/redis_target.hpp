// A server that speaks the Redis protocol: isotherm serve, or Redis itself. GET for reads, SET for
// updates and inserts, both for read-modify-writes, INCR for counters; no scans.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "lab/workload/servers/server_target.hpp"

namespace isotherm::workload {

class redis_target final : public server_target {
 public:
  redis_target(address where, const record_format& format, std::uint64_t seed)
      : server_target(std::move(where), format, seed) {}

  base::result<std::unique_ptr<session>> connect() override;
};

}  // namespace isotherm::workload
