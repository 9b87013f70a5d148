// Types that a guide may hold, and an object that no guide holds yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "guide/relocatable.hpp"
#include "heap/header.hpp"
#include "heap/object.hpp"

namespace isotherm {

/// Opt-in for a type whose objects are never written where they lie once a guide holds them (no
/// write_in_place(), no assignment through get()): they can be used in COLD, and read without a
/// wait when they have left DRAM (guide::try_get()). An object of another type comes back to HOT
/// with each get() or peek() that finds it in a COLD that is a file.
///   template <> struct isotherm::is_immutable<my_type> : std::true_type {};
template <class T>
struct is_immutable : std::false_type {};

/// A type that a guide may own.
template <class T>
concept movable_object = is_trivially_relocatable<T>::value && alignof(T) <= 16;

/// A byte string of any length: the variable-length object. Its length is the size in the header
/// that every object of the heaps has before it, and is not kept a second time: a key of 21 to 24
/// bytes takes 32, not 48. Made by make_bytes(), never copied without header and content. Once a
/// guide holds it, it does not change, except by atomic stores of a writer that knows that it does
/// not lie in COLD (store/record.hpp).
class bytes {
 public:
  bytes(const bytes&) = delete;
  bytes& operator=(const bytes&) = delete;

  std::string_view view() const noexcept { return {data(), size()}; }
  /// A plain load: the size is written before the object is handed out, and stays while it lives.
  std::uint32_t size() const noexcept { return *size_of(this); }
  const char* data() const noexcept { return reinterpret_cast<const char*>(this); }
  char* data() noexcept { return reinterpret_cast<char*>(this); }

  /// In `memory` that heap::allocate() gave for its length; the content is left as it is.
  static bytes* place(void* memory) noexcept { return ::new (memory) bytes; }

  /// Outside of the heaps: `memory` of bytes_outside(length), aligned to 4, begins with the size.
  static bytes* place_outside(void* memory, std::size_t length) noexcept {
    void* const object = static_cast<std::byte*>(memory) + kSizeBytes;
    *size_of(object) = static_cast<std::uint32_t>(length);
    return place(object);
  }
  static constexpr std::size_t bytes_outside(std::size_t length) noexcept {
    return kSizeBytes + std::max(length, sizeof(bytes));
  }
  /// Returns the memory that place_outside() was given.
  static void* memory_outside(bytes* object) noexcept { return size_of(object); }

 private:
  bytes() noexcept = default;

  static constexpr std::size_t kSizeBytes = sizeof(heap::header::bytes);
  static_assert(offsetof(heap::header, bytes) + kSizeBytes == heap::kHeaderBytes);
  static std::uint32_t* size_of(const void* object) noexcept {
    return reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::uintptr_t>(object) - kSizeBytes);
  }
};
template <>
struct is_trivially_relocatable<bytes> : std::true_type {};
template <>
struct is_immutable<bytes> : std::true_type {};

/// An array whose length is fixed when it is made: the object of a guide<T[]>.
template <class T>
class array {
 public:
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  ~array() { std::destroy_n(data(), size_); }

  std::size_t size() const noexcept { return size_; }
  T* data() noexcept { return reinterpret_cast<T*>(this + 1); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(this + 1); }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }

  /// In `memory` of sizeof(array) + size * sizeof(T) bytes; its elements are value-initialised.
  static array* place(void* memory, std::size_t size) {
    std::uninitialized_value_construct_n(reinterpret_cast<T*>(static_cast<array*>(memory) + 1),
                                         size);
    return ::new (memory) array(size);
  }

 private:
  explicit array(std::size_t size) noexcept : size_(size) {}
  alignas(T) alignas(std::size_t) std::size_t size_;  // the elements follow it, aligned
};
template <class T>
struct is_trivially_relocatable<array<T>> : is_trivially_relocatable<T> {};
template <class T>
struct is_immutable<array<T>> : is_immutable<T> {};

namespace guides {
/// The type that a guide<T> holds: T, or array<U> where T is U[].
template <class T>
struct held {
  using type = T;
};
template <class T>
struct held<T[]> {
  using type = array<T>;
};
template <class T>
using held_t = typename held<T>::type;

inline constexpr std::size_t kObjectBytesMax = 0xffffff00u;
}  // namespace guides

/// Owns an object that lives in a heap and that no guide holds yet. Move-only; frees what it owns.
template <class T>
class owned {
 public:
  using object = guides::held_t<T>;

  owned() noexcept = default;
  owned(object* made, heap::kind where) noexcept : object_(made), where_(where) {}
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

  object* get() const noexcept { return object_; }
  object& operator*() const noexcept { return *object_; }
  object* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  heap::kind where() const noexcept { return where_; }
  /// Gives up ownership.
  object* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  object* object_ = nullptr;
  heap::kind where_ = heap::kind::newborn;
};

namespace guides {
/// Memory in `where`, or in NEW when `where` is full; null when that is full too. Not in COLD: what
/// lies there must be whole before any page near it may leave (heap/cold/read.hpp), which the
/// collector alone knows to wait for.
inline std::pair<void*, heap::kind> allocate_or_newborn(heap::kind where,
                                                        std::size_t size) noexcept {
  ISO_CHECK(where != heap::kind::cold, "the collector alone makes objects in COLD");
  if (void* memory = heap::allocate(where, size)) return {memory, where};
  if (where == heap::kind::newborn) return {nullptr, where};
  return {heap::allocate(heap::kind::newborn, size), heap::kind::newborn};
}

/// Frees memory that no object has come to live in: its constructor has thrown. It is no catch,
/// which a program without exceptions could not compile.
class freed_unless_made {
 public:
  explicit freed_unless_made(void* memory) noexcept : memory_(memory) {}
  ~freed_unless_made() {
    if (memory_) heap::deallocate(memory_);
  }
  freed_unless_made(const freed_unless_made&) = delete;
  freed_unless_made& operator=(const freed_unless_made&) = delete;
  void release() noexcept { memory_ = nullptr; }

 private:
  void* memory_;
};
}  // namespace guides

/// Refuses, at compile time, a T that the collector can't move.
template <class T>
consteval void require_movable() {
  static_assert(
      is_trivially_relocatable<guides::held_t<T>>::value,
      "isotherm: the collector moves objects by copying bytes. Make T trivially copyable, "
      "or specialise isotherm::is_trivially_relocatable<T> if T has no pointer to itself.");
  static_assert(
      alignof(guides::held_t<T>) <= 16,
      "isotherm: objects are aligned to 16 bytes. Align T to at most 16, and load what needs more "
      "(vectors) by unaligned loads, or copy it to aligned memory for its use.");
}

/// Makes a T in heap `birth`, NEW or HOT. Null when memory is exhausted. An exception of T's
/// constructor is passed on, and nothing is left behind.
template <class T, class... Arguments>
  requires(!std::is_unbounded_array_v<T>)
owned<T> make_object_in(heap::kind birth, Arguments&&... arguments) {
  require_movable<T>();
  static_assert(!std::is_same_v<T, bytes>,
                "isotherm: a byte string is made by make_bytes(), which knows its content.");
  const auto [memory, where] = guides::allocate_or_newborn(birth, sizeof(T));
  if (!memory) return {};
  if constexpr (std::is_nothrow_constructible_v<T, Arguments...>) {
    return {::new (memory) T(std::forward<Arguments>(arguments)...), where};
  } else {
    guides::freed_unless_made kept(memory);
    T* const made = ::new (memory) T(std::forward<Arguments>(arguments)...);
    kept.release();
    return {made, where};
  }
}

/// An array of `size` value-initialised elements in heap `birth`, as above. Null as well when it
/// would be larger than 4 GiB less 256 bytes.
template <class T>
  requires std::is_unbounded_array_v<T>
owned<T> make_object_in(heap::kind birth, std::size_t size) {
  require_movable<T>();
  using element = std::remove_extent_t<T>;
  using object = guides::held_t<T>;
  if (size > (guides::kObjectBytesMax - sizeof(object)) / sizeof(element)) return {};
  const auto [memory, where] =
      guides::allocate_or_newborn(birth, sizeof(object) + size * sizeof(element));
  if (!memory) return {};
  guides::freed_unless_made kept(memory);
  auto* const made = object::place(memory, size);
  kept.release();
  return {made, where};
}

/// An uninitialised byte string of `length` in NEW or HOT, to be filled before a guide takes it.
inline owned<bytes> make_bytes_in(heap::kind birth, std::size_t length) {
  if (length > guides::kObjectBytesMax) return {};
  const auto [memory, where] = guides::allocate_or_newborn(birth, length);
  if (!memory) return {};
  return {bytes::place(memory), where};
}
inline owned<bytes> make_bytes_in(heap::kind birth, std::string_view content) {
  auto object = make_bytes_in(birth, content.size());
  if (object && !content.empty()) std::memcpy(object->data(), content.data(), content.size());
  return object;
}
/// A byte string in NEW.
inline owned<bytes> make_bytes(std::string_view content) {
  return make_bytes_in(heap::kind::newborn, content);
}

}  // namespace isotherm
