// What may be held by a guide, and an object that no guide holds yet.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "heap/heap.hpp"

namespace isotherm {

/// Opt-in for a type that stays valid when its bytes are copied elsewhere and the original is
/// forgotten (no pointer into itself, no registration of its address):
///   template <> struct isotherm::is_trivially_relocatable<my_type> : std::true_type {};
template <class T>
struct is_trivially_relocatable : std::is_trivially_copyable<T> {};

/// What a guide may own.
template <class T>
concept movable_object = is_trivially_relocatable<T>::value && alignof(T) <= 16;

/// A byte string of any length with its length before it: the variable-length object. Made by
/// make_bytes(); immutable once a guide holds it.
class bytes {
 public:
  std::string_view view() const noexcept { return {data(), length_}; }
  std::uint32_t size() const noexcept { return length_; }
  const char* data() const noexcept { return reinterpret_cast<const char*>(this) + sizeof(bytes); }
  char* data() noexcept { return reinterpret_cast<char*>(this) + sizeof(bytes); }

  static constexpr std::size_t footprint(std::size_t length) noexcept {
    return sizeof(bytes) + length;
  }
  explicit bytes(std::uint32_t length) noexcept : length_(length) {}

 private:
  std::uint32_t length_;
};
static_assert(sizeof(bytes) == 4);

/// Owns an object that lives in a heap and that no guide holds yet. Move-only; frees what it owns.
template <class T>
class owned {
 public:
  owned() noexcept = default;
  owned(T* object, heap::kind where) noexcept : object_(object), where_(where) {}
  owned(owned&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), where_(other.where_) {}
  owned& operator=(owned&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(where_, other.where_);
    return *this;
  }
  ~owned() {
    if (!object_) return;
    std::destroy_at(object_);
    heap::deallocate(object_);
  }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  heap::kind where() const noexcept { return where_; }
  /// Gives up ownership.
  T* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
  heap::kind where_ = heap::kind::fresh;
};

namespace guides {
/// Memory in `where`, or in NEW when `where` is full; null when that is full too.
inline std::pair<void*, heap::kind> allocate_or_fresh(heap::kind where, std::size_t size) noexcept {
  if (void* memory = heap::allocate(where, size)) return {memory, where};
  if (where == heap::kind::fresh) return {nullptr, where};
  return {heap::allocate(heap::kind::fresh, size), heap::kind::fresh};
}
}  // namespace guides

/// Refuses, at compile time, a T that the collector can't move.
template <class T>
consteval void require_movable() {
  static_assert(
      movable_object<T>,
      "isotherm: the collector moves objects by copying bytes. Make T trivially copyable, "
      "or specialise isotherm::is_trivially_relocatable<T> if T has no pointer to itself "
      "(and align it to at most 16 bytes).");
}

/// Makes a T in heap `birth`. Null when memory is exhausted. What T's constructor throws is passed
/// on, and nothing is left behind.
template <class T, class... Arguments>
owned<T> make_object_in(heap::kind birth, Arguments&&... arguments) {
  require_movable<T>();
  const auto [memory, where] = guides::allocate_or_fresh(birth, sizeof(T));
  if (!memory) return {};
  if constexpr (std::is_nothrow_constructible_v<T, Arguments...>) {
    return {::new (memory) T(std::forward<Arguments>(arguments)...), where};
  } else {
    try {
      return {::new (memory) T(std::forward<Arguments>(arguments)...), where};
    } catch (...) {
      heap::deallocate(memory);
      throw;
    }
  }
}

/// An uninitialised byte string of `length`, to be filled before a guide takes it.
inline owned<bytes> make_bytes_in(heap::kind birth, std::size_t length) {
  if (length > 0xffffff00u) return {};
  const auto [memory, where] = guides::allocate_or_fresh(birth, bytes::footprint(length));
  if (!memory) return {};
  return {::new (memory) bytes(static_cast<std::uint32_t>(length)), where};
}
inline owned<bytes> make_bytes_in(heap::kind birth, std::string_view content) {
  auto object = make_bytes_in(birth, content.size());
  if (object && !content.empty()) std::memcpy(object->data(), content.data(), content.size());
  return object;
}
/// A byte string in NEW.
inline owned<bytes> make_bytes(std::string_view content) {
  return make_bytes_in(heap::kind::fresh, content);
}

}  // namespace isotherm
