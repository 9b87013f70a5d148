// A file as memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/error.hpp"
#include "os/files/file.hpp"

namespace isotherm::os {

/// The accesses that a mapping allows.
enum class mapping_access { read_only, read_write };

/// A shared mapping of a whole file. Movable, unmaps itself.
class mapping {
 public:
  mapping() noexcept = default;
  mapping(mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  mapping& operator=(mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~mapping();

  /// Maps the first `bytes` (> 0) of `f`, which may be closed afterwards.
  static base::result<mapping> map(const file& f, std::uint64_t bytes, mapping_access access);

  std::byte* data() const noexcept { return data_; }
  std::uint64_t size() const noexcept { return bytes_; }
  /// Drops the pages that lie wholly in [offset, offset + bytes) from this process; the file and
  /// its cache keep their contents.
  void forget(std::uint64_t offset, std::uint64_t bytes) const noexcept;

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// Maps the first `bytes` of `f`, shared, for reading and writing over a reserved range, at
/// multiples of what the file's device aligns to. A touch of a page that the file does not have is
/// a SIGBUS. A later os::release() of the range ends the mapping.
base::result<void> map_over(std::byte* begin, std::uint64_t bytes, const file& f);

}  // namespace isotherm::os
