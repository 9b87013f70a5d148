// Which objects may be moved by copying their bytes.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

namespace isotherm {

/// Opt-in for a type that stays valid when its bytes are copied elsewhere and the original is
/// forgotten (no pointer into itself, no registration of its address):
///   template <> struct isotherm::is_trivially_relocatable<my_type> : std::true_type {};
template <class T>
struct is_trivially_relocatable : std::is_trivially_copyable<T> {};

// The assignments of these are not trivial, whatever they hold.
template <class First, class Second>
struct is_trivially_relocatable<std::pair<First, Second>>
    : std::conjunction<is_trivially_relocatable<First>, is_trivially_relocatable<Second>> {};
template <class... Members>
struct is_trivially_relocatable<std::tuple<Members...>>
    : std::conjunction<is_trivially_relocatable<Members>...> {};

}  // namespace isotherm
