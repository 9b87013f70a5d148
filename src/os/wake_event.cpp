#include "os/wake_event.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace isotherm::os {

namespace {
int make_event() noexcept {
  const int made = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return made < 0 ? -errno : made;
}
}  // namespace

wake_event::wake_event() noexcept : descriptor_(make_event()) {}

wake_event::~wake_event() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void wake_event::wake() const noexcept {
  const std::uint64_t one = 1;
  // It fails when the counter is full, and then the thread that waits wakes up anyway.
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, &one, sizeof one);
}

void wake_event::acknowledge() const noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(descriptor_, &count, sizeof count);
}

}  // namespace isotherm::os
