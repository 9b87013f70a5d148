#include "os/files/mapping.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "base/page.hpp"
#include "os/faults.hpp"
#include "os/files/failure.hpp"

namespace isotherm::os {

mapping::~mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

base::result<mapping> mapping::map(const file& f, std::uint64_t bytes, mapping_access access) {
  if (const int e = injected_fault(io_call::map)) return failed("cannot map " + f.path(), e);
  const int protection = access == mapping_access::read_write ? PROT_READ | PROT_WRITE : PROT_READ;
  void* p = ::mmap(nullptr, bytes, protection, MAP_SHARED, f.descriptor(), 0);
  if (p == MAP_FAILED) return failed("cannot map " + f.path(), errno);
  mapping m;
  m.data_ = static_cast<std::byte*>(p);
  m.bytes_ = bytes;
  return m;
}

base::result<void> map_over(std::byte* begin, std::uint64_t bytes, const file& f) {
  if (const int e = injected_fault(io_call::map)) return failed("cannot map " + f.path(), e);
  void* const mapped = ::mmap(begin, bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED | MAP_NORESERVE, f.descriptor(), 0);
  if (mapped == MAP_FAILED) return failed("cannot map " + f.path(), errno);
  return {};
}

void mapping::forget(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  const std::uint64_t begin = (offset + base::kPageBytes - 1) / base::kPageBytes * base::kPageBytes;
  const std::uint64_t end = std::min(offset + bytes, bytes_) / base::kPageBytes * base::kPageBytes;
  if (begin < end) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

}  // namespace isotherm::os
