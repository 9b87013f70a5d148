// A memcached, by libmemcached: get for reads, set for updates and inserts, both for
// read-modify-writes, incr for counters; no scans. Values expire after whole seconds. It is a
// cache: a record that it dropped is answer::missing.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "lab/workload/servers/server_target.hpp"

namespace isotherm::workload {

class memcached_target final : public server_target {
 public:
  memcached_target(address where, const record_format& format, std::uint64_t seed)
      : server_target(std::move(where), format, seed) {}

  base::result<std::unique_ptr<session>> connect() override;
};

}  // namespace isotherm::workload
