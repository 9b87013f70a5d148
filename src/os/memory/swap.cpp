#include "os/memory/swap.hpp"

#include "os/proc_file.hpp"

namespace isotherm::os {

swap_space read_swap_space() {
  const std::string text = read_proc_file("/proc/meminfo");
  return {number_after(text, "SwapTotal:").value_or(0) * 1024,
          number_after(text, "SwapFree:").value_or(0) * 1024};
}

}  // namespace isotherm::os
