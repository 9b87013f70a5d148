// Python objects with the buffer protocol, as memory.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <utility>

namespace isotherm::python {

namespace nb = nanobind;

/// A contiguous buffer of an object, which it keeps alive and unresized. Movable. Needs the GIL to
/// be made and to end; the bytes may be used without it.
class buffer {
 public:
  enum class access { read, write };

  buffer() noexcept = default;
  explicit buffer(nb::handle object, access how = access::read) {
    const int flags = how == access::write ? PyBUF_WRITABLE : PyBUF_SIMPLE;
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
  }
  buffer(buffer&& other) noexcept : view_(std::exchange(other.view_, {})) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ~buffer() { PyBuffer_Release(&view_); }

  const std::byte* data() const noexcept { return static_cast<const std::byte*>(view_.buf); }
  std::size_t size() const noexcept { return static_cast<std::size_t>(view_.len); }
  std::span<const std::byte> bytes() const noexcept { return {data(), size()}; }
  /// Requires: made with access::write.
  std::span<std::byte> writable() const noexcept {
    return {static_cast<std::byte*>(view_.buf), size()};
  }

 private:
  Py_buffer view_{};  // without an object: releasing it does nothing
};

/// New bytes, not yet set, which nothing else knows: they may be written without the GIL.
inline std::pair<nb::bytes, std::span<std::byte>> new_bytes(std::size_t size) {
  PyObject* const made = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
  if (made == nullptr) throw nb::python_error();
  auto* const data = reinterpret_cast<std::byte*>(PyBytes_AS_STRING(made));
  return {nb::steal<nb::bytes>(made), {data, size}};
}

inline nb::bytes to_bytes(std::span<const std::byte> from) {
  return nb::bytes(from.data(), from.size());
}

}  // namespace isotherm::python
