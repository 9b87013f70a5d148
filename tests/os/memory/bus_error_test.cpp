// Handlers are installed once in a process, so each test looks at one of its own.
#include "os/memory/bus_error.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace isotherm::os {
namespace {

/// Sends SIGBUS where `before` was what became of it; 0: lived on.
[[noreturn]] void send_after(void (*before)(int)) {
  static int some_place = 0;
  ::signal(SIGBUS, before);
  if (!catch_bus_errors(&some_place, sizeof some_place)) _exit(2);
  ::raise(SIGBUS);
  _exit(0);
}

TEST(BusError, OneThatIsSentStaysIgnored) {
  EXPECT_EXIT(send_after(SIG_IGN), testing::ExitedWithCode(0), "");
}
TEST(BusError, OneThatIsSentEndsTheProcessAsBefore) {
  EXPECT_EXIT(send_after(SIG_DFL), testing::KilledBySignal(SIGBUS), "");
}
TEST(BusError, OneThatIsSentGoesToTheHandlerThatWasThere) {
  EXPECT_EXIT(send_after([](int) { _exit(7); }), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace isotherm::os
