// A store in another process, which a server's protocol reaches. No scans.
#pragma once

#include <cstdint>
#include <utility>

#include "lab/workload/record.hpp"
#include "lab/workload/target.hpp"

namespace isotherm::workload {

class server_target : public target {
 public:
  bool can_scan() const noexcept final { return false; }
  place runs_in() const noexcept final { return place::elsewhere; }

 protected:
  server_target(address where, const record_format& format, std::uint64_t seed)
      : where_(std::move(where)), format_(format), seed_(seed) {}

  const address where_;
  const record_format format_;
  const std::uint64_t seed_;  ///< of the values
};

}  // namespace isotherm::workload
