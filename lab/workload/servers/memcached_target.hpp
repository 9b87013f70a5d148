// A memcached, by libmemcached: get for reads, set for updates and inserts, both for
// read-modify-writes, incr for counters; no scans. Values expire after whole seconds. It is a
// cache: a record that it dropped is answer::missing.
#pragma once

#include <cstdint>
#include <memory>

#include "lab/workload/record.hpp"
#include "lab/workload/target.hpp"

namespace isotherm::workload {

class memcached_target final : public target {
 public:
  memcached_target(address where, const record_format& format, std::uint64_t seed)
      : where_(std::move(where)), format_(format), seed_(seed) {}

  base::result<std::unique_ptr<session>> connect() override;
  bool can_scan() const noexcept override { return false; }
  place runs_in() const noexcept override { return place::elsewhere; }

 private:
  address where_;
  record_format format_;
  [[maybe_unused]] std::uint64_t seed_;  // a build without libmemcached does not read it
};

}  // namespace isotherm::workload
