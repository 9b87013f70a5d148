#include "heap/brake.hpp"

#include <algorithm>

#include "os/clock.hpp"

namespace isotherm::heap {

constinit brake loading_brake;

void brake::wait(std::size_t count) noexcept {
  const std::uint64_t each = us_per_extent_.load_relaxed();
  if (each == 0) [[likely]]
    return;
  const std::uint64_t begin_ns = os::monotonic_ns();
  os::sleep_us(std::min(each * count, kWaitUsMax));
  waits_.fetch_add_relaxed(1);
  waited_us_.fetch_add_relaxed((os::monotonic_ns() - begin_ns) / 1000);
}

}  // namespace isotherm::heap
