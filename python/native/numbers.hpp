// Numbers of arrays as unsigned integers that order as they do.
#pragma once

#include <cstdint>
#include <limits>

namespace isotherm::python {

enum class number : std::uint8_t {
  natural,  ///< unsigned
  integer,  ///< two's complement
  time,     ///< an integer whose least value means none (NaT) and goes behind all others
  real      ///< IEEE 754; NaN goes behind all others
};

/// The bits of infinity, above which only those of NaN are.
template <class Bits>
constexpr Bits infinity() noexcept {
  if constexpr (sizeof(Bits) == 1) return std::numeric_limits<Bits>::max();  // there are none
  if constexpr (sizeof(Bits) == 2) return 0x7c00;
  if constexpr (sizeof(Bits) == 4) return 0x7f800000;
  if constexpr (sizeof(Bits) == 8) return 0x7ff0000000000000;
}

template <class Bits>
inline constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

/// Returns the number with these bits. NaN loses its sign.
template <class Bits>
constexpr Bits ordered(number kind, Bits bits) noexcept {
  switch (kind) {
    case number::natural:
      return bits;
    case number::integer:
      return bits ^ kSign<Bits>;
    case number::time:
      return static_cast<Bits>((bits ^ kSign<Bits>)-1);
    case number::real: {
      const auto magnitude = static_cast<Bits>(bits & ~kSign<Bits>);
      if (magnitude > infinity<Bits>() || magnitude == bits) return magnitude | kSign<Bits>;
      return static_cast<Bits>(~bits);
    }
  }
  return bits;
}

/// Undoes ordered().
template <class Bits>
constexpr Bits restored(number kind, Bits order) noexcept {
  switch (kind) {
    case number::natural:
      return order;
    case number::integer:
      return order ^ kSign<Bits>;
    case number::time:
      return static_cast<Bits>(order + 1) ^ kSign<Bits>;
    case number::real:
      return (order & kSign<Bits>) != 0 ? static_cast<Bits>(order & ~kSign<Bits>)
                                        : static_cast<Bits>(~order);
  }
  return order;
}

}  // namespace isotherm::python
