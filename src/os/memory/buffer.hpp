// Private memory for large, short-lived arrays: from the system, in huge pages where it has them,
// counted against the memory limit only as it is touched, and given back whole.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/error.hpp"

namespace isotherm::os {

/// An array of bytes, aligned to a page. Movable, owns its memory.
class buffer {
 public:
  buffer() noexcept = default;
  buffer(buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~buffer();

  static base::result<buffer> reserve(std::size_t bytes);

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }
  /// The buffer as an array of T, as many as fit.
  template <class T>
  std::span<T> as() const noexcept {
    return {reinterpret_cast<T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace isotherm::os
