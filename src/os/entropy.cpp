#include "os/entropy.hpp"

#include <sys/random.h>

#include <cerrno>

#include "base/check.hpp"

namespace isotherm::os {

void fill_with_entropy(std::span<std::byte> bytes) noexcept {
  ssize_t got;
  do {
    got = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  // Up to 256 bytes come whole; the call is missing only before Linux 3.17.
  ISO_CHECK(got >= 0 && static_cast<std::size_t>(got) == bytes.size(), "getrandom(2) fails");
}

}  // namespace isotherm::os
