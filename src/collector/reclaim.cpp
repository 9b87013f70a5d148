#include "collector/reclaim.hpp"

#include <algorithm>

#include "os/pressure.hpp"

namespace isotherm::collector {

heap::reclaim_report reclaim_policy::run(heap::hint how, std::uint64_t limit_bytes,
                                         bool cold_is_quiet, std::uint64_t refaulted_bytes) {
  if (how == heap::hint::none || !cold_is_quiet) return {};
  if (os::memory_pressure_percent().value_or(0) > kPressureLimit) return {};
  allowance_bytes_ =
      next_allowance(allowance_bytes_, last_hinted_bytes_, refaulted_bytes, limit_bytes);
  heap::reclaim_report report = heap::reclaim_cold(how, allowance_bytes_);
  last_hinted_bytes_ = report.bytes_asked;
  return report;
}

}  // namespace isotherm::collector
