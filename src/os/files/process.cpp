#include "os/files/process.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <sstream>
#include <string>

#include "os/proc_file.hpp"

namespace isotherm::os {

base::result<file> open_process(int pid) {
  const std::string name = "process " + std::to_string(pid);
  const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (handle < 0 && (errno == ESRCH || errno == EINVAL)) {
    return std::unexpected(base::error{"there is no " + name, ESRCH});
  }
  if (handle < 0) return std::unexpected(base::system_error("cannot open " + name, errno));
  auto opened = file::of_descriptor(handle, name);
  ::close(handle);
  return opened;
}

bool is_kernel_thread(int pid) {
  // Field 9 of stat; the name before, in parentheses, may hold blanks.
  constexpr std::uint64_t kKernelThread = 0x0020'0000;  // PF_KTHREAD of linux/sched.h
  const std::string stat = read_proc_file(("/proc/" + std::to_string(pid) + "/stat").c_str());
  std::istringstream fields(stat.substr(std::min(stat.rfind(')'), stat.size())));
  std::string skipped;
  for (int field = 2; field < 9; ++field) fields >> skipped;
  std::uint64_t flags = 0;
  return (fields >> flags) && (flags & kKernelThread) != 0;
}

}  // namespace isotherm::os
