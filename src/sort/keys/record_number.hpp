// Numbers that are keys of fixed records, as unsigned numbers that order as they do.
#pragma once

#include <isotherm/sort.hpp>

#include <cstdint>

namespace isotherm::sort {

/// Both functions take and return keys whose bytes stand at the top of 64 bits.
class number_order {
 public:
  explicit constexpr number_order(const record_number& number) noexcept
      : number_(number), spare_bits_(64 - 8 * number.bytes) {}

  /// Turns the bytes of a number, as they lie in the record, into a number that orders as it does.
  constexpr std::uint64_t ordered(std::uint64_t bytes) const noexcept {
    const std::uint64_t value = turned(bytes);
    switch (number_.kind) {
      case number_kind::natural:
        return value;
      case number_kind::integer:
        return value ^ kSign;
      case number_kind::real:
        return (value & kSign) == 0 ? value ^ kSign : ~value >> spare_bits_ << spare_bits_;
    }
    return value;
  }
  /// Undoes ordered().
  constexpr std::uint64_t bytes(std::uint64_t order) const noexcept {
    switch (number_.kind) {
      case number_kind::natural:
        return turned(order);
      case number_kind::integer:
        return turned(order ^ kSign);
      case number_kind::real:
        return turned((order & kSign) != 0 ? order ^ kSign : ~order >> spare_bits_ << spare_bits_);
    }
    return order;
  }

 private:
  static constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  constexpr std::uint64_t turned(std::uint64_t n) const noexcept {
    return number_.big_endian ? n : __builtin_bswap64(n) << spare_bits_;
  }

  record_number number_;
  unsigned spare_bits_;
};

}  // namespace isotherm::sort
