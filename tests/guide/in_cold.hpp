// Objects made in COLD, as the collector makes them: while none of its pages is asked to leave. In
// NEW where COLD has no room.
#pragma once

#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "guide/object.hpp"

namespace isotherm::testing_help {

template <class T, class... Arguments>
owned<T> object_in_cold(Arguments&&... arguments) {
  if (void* const memory = heap::allocate(heap::kind::cold, sizeof(T))) {
    return {::new (memory) T(std::forward<Arguments>(arguments)...), heap::kind::cold};
  }
  return make_object_in<T>(heap::kind::newborn, std::forward<Arguments>(arguments)...);
}

inline owned<bytes> bytes_in_cold(std::string_view content) {
  void* const memory = heap::allocate(heap::kind::cold, content.size());
  if (memory == nullptr) return make_bytes(content);
  bytes* const made = bytes::place(memory);
  std::memcpy(made->data(), content.data(), content.size());
  return {made, heap::kind::cold};
}

}  // namespace isotherm::testing_help
