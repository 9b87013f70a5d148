#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace isotherm::base {

void check_failed(const char* file, int line, const char* condition, const char* message) noexcept {
  std::fprintf(stderr, "isotherm: %s:%d: broken invariant (%s): %s\n", file, line, condition,
               message);
  std::abort();
}

}  // namespace isotherm::base
