// Writing into an object where it lies, beside a collector that may be copying it.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace isotherm {

namespace guides {
/// The unit that a value aligned so is written in: aliases anything, like char.
template <std::size_t Alignment>
struct written_unit {
  using type [[gnu::may_alias]] = std::uint64_t;
};
template <>
struct written_unit<4> {
  using type [[gnu::may_alias]] = std::uint32_t;
};
template <>
struct written_unit<2> {
  using type [[gnu::may_alias]] = std::uint16_t;
};
template <>
struct written_unit<1> {
  using type [[gnu::may_alias]] = std::uint8_t;
};
}  // namespace guides

/// Writes `value` to `place`: an object, or a member or an element of one, at the address that
/// guide<T>::get() gave in a scope that is still open. If that get() met a copy in flight it has
/// cancelled the move, and until the scope closes no other begins, so the write is never lost; that
/// it is made of relaxed atomic stores of V's alignment (8 bytes at most) keeps the copy, which is
/// thrown away, well-defined (pitfall 7). Bytes beside `place` are not touched. Towards the
/// application's other threads it is an ordinary write: what keeps them from reading half of it, a
/// lock for instance, is the caller's.
template <class V>
void write_in_place(V& place, const std::type_identity_t<V>& value) noexcept {
  static_assert(std::is_trivially_copyable_v<V>,
                "isotherm: write_in_place() copies bytes, so V must be trivially copyable. Write "
                "its members one by one, or put a new object in the guide with replace().");
  using unit = typename guides::written_unit<(alignof(V) < 8 ? alignof(V) : 8)>::type;
  auto* to = reinterpret_cast<unit*>(&place);
  const auto* from = reinterpret_cast<const char*>(&value);
  for (const auto* const end = from + sizeof(V); from != end; from += sizeof(unit), ++to) {
    unit piece;
    std::memcpy(&piece, from, sizeof(unit));
    __atomic_store_n(to, piece, __ATOMIC_RELAXED);
  }
}

}  // namespace isotherm
