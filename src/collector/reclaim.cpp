#include "collector/reclaim.hpp"

#include "os/pressure.hpp"

namespace isotherm::collector {

heap::reclaim_report reclaim_policy::run(heap::hint how, std::uint64_t limit_bytes,
                                         bool comes_back_soon) {
  if (os::memory_pressure_percent().value_or(0) > kPressureLimit) return {};
  allowance_bytes_ = next_allowance(allowance_bytes_, comes_back_soon, limit_bytes);
  return heap::reclaim_cold(how, allowance_bytes_);
}

}  // namespace isotherm::collector
