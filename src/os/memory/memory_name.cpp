#include "os/memory/memory_name.hpp"

#include <sys/prctl.h>

namespace isotherm::os {

void name_memory(void* begin, std::size_t bytes, const char* name) noexcept {
  static_cast<void>(::prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, begin, bytes, name));
}

}  // namespace isotherm::os
