// An index of this process as the target of a workload.
#pragma once

#include <memory>

#include "index/index.hpp"
#include "lab/workload/record.hpp"
#include "lab/workload/target.hpp"

namespace isotherm::lab {

/// Drives `index`, which must outlive it and its sessions.
class index_target final : public workload::target {
 public:
  index_target(index::any_index& index, const workload::record_format& format, std::uint64_t seed)
      : index_(index), format_(format), seed_(seed) {}

  base::result<std::unique_ptr<workload::session>> connect() override;
  bool can_scan() const noexcept override { return index_.is_ordered(); }
  place runs_in() const noexcept override { return place::caller; }

 private:
  index::any_index& index_;
  workload::record_format format_;
  std::uint64_t seed_;
};

}  // namespace isotherm::lab
