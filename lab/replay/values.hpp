// Values of any size that can be checked against the number of their key.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace isotherm::replay {

/// A thread's buffer for one value. A value of 8 bytes and more is stamped with its key's number
/// (lab/workload/record.hpp); a smaller one, and a counter's decimal digits, cannot be told from
/// others.
class values {
 public:
  /// A value of `bytes` bytes, valid until the next call.
  std::string_view make(std::uint64_t number, std::uint32_t bytes);
  /// Copies `value` out, as a client would that uses it; whether it can be a value of `number`.
  bool take(std::string_view value, std::uint64_t number);

 private:
  std::vector<char> made_, taken_;
};

}  // namespace isotherm::replay
