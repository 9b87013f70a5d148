// A server that speaks the Redis protocol: isotherm serve, or Redis itself. GET for reads, SET for
// updates and inserts, both for read-modify-writes, INCR for counters; no scans.
#pragma once

#include <cstdint>
#include <memory>

#include "lab/workload/record.hpp"
#include "lab/workload/target.hpp"

namespace isotherm::workload {

class redis_target final : public target {
 public:
  redis_target(address where, const record_format& format, std::uint64_t seed)
      : where_(std::move(where)), format_(format), seed_(seed) {}

  base::result<std::unique_ptr<session>> connect() override;
  bool can_scan() const noexcept override { return false; }
  place runs_in() const noexcept override { return place::elsewhere; }

 private:
  address where_;
  record_format format_;
  std::uint64_t seed_;
};

}  // namespace isotherm::workload
