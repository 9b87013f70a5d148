#include "os/memory/locked.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "os/memory/address_space.hpp"

namespace isotherm::os {

base::result<void*> map_locked(std::size_t bytes) {
  void* const begin = map_memory(bytes);
  if (begin == nullptr) return std::unexpected(base::system_error("cannot map memory", ENOMEM));
  if (mlock(begin, bytes) == 0) return begin;
  const int code = errno;
  release(begin, bytes);
  return std::unexpected(base::system_error("cannot lock memory", code));
}

}  // namespace isotherm::os
