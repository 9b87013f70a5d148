// The form of a record: keys made from a number, and values that can be checked against it.
//
// A key is "user", sixteen hexadecimal digits of a mixed number (so that neighbours in number are
// strangers in order), and more digits up to its size. A value carries a stamp, from which the
// number can be had back, in its first and in its last eight bytes; between them stand random
// letters. A value that was lost, torn or exchanged is thus seen by every read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lab/workload/generators.hpp"

namespace isotherm::workload {

/// How the sizes of values are drawn: YCSB's fieldlengthdistribution. For the last two they lie in
/// record_format::least_value_size .. value_size; of zipfian (theta 0.99) small ones are the most.
enum class value_sizes : std::uint8_t { constant, uniform, zipfian };
/// Parses "constant", "uniform" or "zipfian".
base::result<value_sizes> parse_value_sizes(const std::string& text);
const char* name_of(value_sizes how) noexcept;

/// Sizes of a record in bytes, and how long its value lives.
struct record_format {
  std::size_t key_size = 30;      ///< kLeastKey .. kGreatestKey
  std::size_t value_size = 1024;  ///< the greatest; kLeastValue or more
  value_sizes sizes = value_sizes::constant;
  std::size_t least_value_size = kLeastValue;  ///< unless sizes are constant; up to value_size
  std::uint64_t ttl_ms = 0;  ///< from an insert or update until the value expires; 0: never

  static constexpr std::size_t kLeastKey = 16;
  static constexpr std::size_t kGreatestKey = 512;
  static constexpr std::size_t kLeastValue = 8;
  static constexpr std::size_t kGreatestValue = std::size_t{512} << 20;

  /// An error that names the bounds when a size is out of them.
  base::result<void> check() const;

  /// Bytes of the objects that hold one record, key and value, in the mean.
  std::uint64_t object_bytes() const noexcept;
};

/// Writes the key of `number` over all of `key` (kLeastKey bytes or more). Different numbers have
/// different keys.
void write_key(std::uint64_t number, std::span<char> key) noexcept;

/// Number whose key holds the counter of record `number`: no record has it.
constexpr std::uint64_t counter_of(std::uint64_t number) noexcept {
  return number | std::uint64_t{1} << 63;
}

/// Writes the stamp of `number` to the first and the last eight bytes of `value`, which has
/// kLeastValue bytes or more. In one of fewer than sixteen the last eight win.
void stamp_value(std::span<char> value, std::uint64_t number) noexcept;

/// Number of the record that `value` belongs to; nullopt when its two stamps disagree or the value
/// is shorter than a stamp.
std::optional<std::uint64_t> number_of(std::string_view value) noexcept;

/// A thread's buffers for one key and one value: nothing is allocated for an operation.
class record_buffer {
 public:
  /// `seed` chooses the filling letters.
  record_buffer(const record_format& format, std::uint64_t seed);

  /// Key of `number`, valid until the next call.
  std::string_view key(std::uint64_t number) noexcept {
    write_key(number, key_);
    return {key_.data(), key_.size()};
  }
  /// Bytes of the value of `number`: a record keeps its size in each update, so that each read can
  /// check it.
  std::size_t size_of(std::uint64_t number) const noexcept;
  /// Value of `number`, valid until the next call.
  std::string_view value(std::uint64_t number) noexcept;

  /// Copies `value` out, as a client would that uses it, and tells whether it is a value of
  /// `number` with the right size.
  bool take(std::string_view value, std::uint64_t number) noexcept;

 private:
  std::vector<char> key_;
  std::vector<char> value_;
  std::vector<char> taken_;
  value_sizes sizes_;
  std::size_t least_;
  zipfian ranks_;  ///< of the sizes, the least first
};

}  // namespace isotherm::workload
