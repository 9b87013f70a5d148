#include "collector/reclaim.hpp"

#include "os/pressure.hpp"

namespace isotherm::collector {

heap::reclaim_report reclaim_policy::run(heap::hint how, std::uint64_t limit_bytes,
                                         bool comes_back_soon, const std::function<bool()>& stop) {
  const bool hurts = backs_off(os::memory_pressure_percent().value_or(0), comes_back_soon);
  allowance_bytes_ = next_allowance(allowance_bytes_, hurts, limit_bytes);
  return heap::reclaim_cold(how, allowance_bytes_, stop);
}

}  // namespace isotherm::collector
