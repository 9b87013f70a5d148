#include "os/wake_event.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace isotherm::os {
namespace {

bool is_readable(const wake_event& of, int wait_ms) {
  pollfd seen{.fd = of.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&seen, 1, wait_ms) == 1;
}

TEST(WakeEvent, CanBeReadFromWakeToAcknowledge) {
  const wake_event event;
  ASSERT_GE(event.descriptor(), 0);
  EXPECT_FALSE(is_readable(event, 0));
  event.wake();
  event.wake();
  EXPECT_TRUE(is_readable(event, 0));
  event.acknowledge();
  EXPECT_FALSE(is_readable(event, 0)) << "one acknowledgement is for all calls before it";
  event.acknowledge();  // does not wait
}

TEST(WakeEvent, WakesAThreadThatWaits) {
  const wake_event event;
  const std::jthread other([&] { event.wake(); });
  constexpr int kForever = -1;
  EXPECT_TRUE(is_readable(event, kForever));
}

}  // namespace
}  // namespace isotherm::os
