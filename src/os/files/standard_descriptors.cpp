#include "os/files/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace isotherm::os {

void take_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    const int taken = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (taken != fd) ::_exit(1);  // the lowest free number is fd
  }
}

}  // namespace isotherm::os
