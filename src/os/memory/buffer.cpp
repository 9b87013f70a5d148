#include "os/memory/buffer.hpp"

#include <sys/mman.h>

#include <cerrno>

namespace isotherm::os {

buffer::~buffer() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

base::result<buffer> buffer::reserve(std::size_t bytes) {
  buffer b;
  if (bytes == 0) return b;
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    auto e = base::system_error("cannot get memory for buffers", errno);
    e.message += ": give less by --memory, or allow more (ulimit -v, or the container's limits)";
    return std::unexpected(std::move(e));
  }
  if (bytes >= (std::size_t{16} << 20)) ::madvise(p, bytes, MADV_HUGEPAGE);  // a wish, not a need
  b.data_ = static_cast<std::byte*>(p);
  b.bytes_ = bytes;
  return b;
}

}  // namespace isotherm::os
