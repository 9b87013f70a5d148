#include "lab/workload/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/random.hpp"

namespace isotherm::workload {
namespace {

// An odd factor and its inverse modulo 2^64, so that a stamp leads back to its number.
constexpr std::uint64_t kStamp = 0x9e3779b97f4a7c15u;
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;  // correct to 3 bits; each step of Newton's doubles them
  for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
  return x;
}
constexpr std::uint64_t kUnstamp = inverse(kStamp);
static_assert(kStamp * kUnstamp == 1);

constexpr std::size_t kStampBytes = sizeof(std::uint64_t);

std::uint64_t stamp_of(std::uint64_t number) noexcept { return (number + 1) * kStamp; }

constexpr double kTheta = 0.99;  // of zipfian sizes, as in YCSB

constexpr std::array kValueSizes{"constant", "uniform", "zipfian"};

}  // namespace

base::result<value_sizes> parse_value_sizes(const std::string& text) {
  const auto* const at = std::ranges::find(kValueSizes, text);
  if (at != kValueSizes.end()) return static_cast<value_sizes>(at - kValueSizes.begin());
  return std::unexpected(base::error{
      fmt::format("--value-sizes must be one of {}, not '{}'", fmt::join(kValueSizes, "|"), text)});
}

const char* name_of(value_sizes how) noexcept { return kValueSizes[static_cast<std::size_t>(how)]; }

std::uint64_t record_format::object_bytes() const noexcept {
  const std::uint64_t sizes_there = value_size - least_value_size + 1;
  switch (sizes) {
    case value_sizes::constant:
      return key_size + value_size;
    case value_sizes::uniform:
      return key_size + (least_value_size + value_size) / 2;
    case value_sizes::zipfian:
      break;
  }
  // The mean of i, which has the chance i^-theta / zeta.
  const double rank = zeta(sizes_there, kTheta - 1) / zeta(sizes_there, kTheta) - 1;
  return key_size + least_value_size + static_cast<std::uint64_t>(rank);
}

base::result<void> record_format::check() const {
  if (key_size < kLeastKey || key_size > kGreatestKey) {
    return std::unexpected(base::error{fmt::format("--key-size must be {} to {} bytes, not {}",
                                                   kLeastKey, kGreatestKey, key_size)});
  }
  if (value_size < kLeastValue || value_size > kGreatestValue) {
    return std::unexpected(base::error{fmt::format("--value-size must be {} to {} bytes, not {}",
                                                   kLeastValue, kGreatestValue, value_size)});
  }
  if (least_value_size < kLeastValue || least_value_size > value_size) {
    return std::unexpected(base::error{
        fmt::format("--value-size {}..{}: the least size must be {} bytes to the greatest",
                    least_value_size, value_size, kLeastValue)});
  }
  return {};
}

void write_key(std::uint64_t number, std::span<char> key) noexcept {
  static constexpr char kDigits[] = "0123456789abcdef";
  static constexpr std::string_view kPrefix = "user";
  std::size_t at = 0;
  if (key.size() >= kPrefix.size() + 16) {
    std::memcpy(key.data(), kPrefix.data(), kPrefix.size());
    at = kPrefix.size();
  }
  // mix64 is a bijection: the first sixteen digits tell all numbers apart.
  std::uint64_t word = number;
  while (at < key.size()) {
    word = base::mix64(word);
    for (int shift = 60; shift >= 0 && at < key.size(); shift -= 4) {
      key[at++] = kDigits[(word >> shift) & 15];
    }
  }
}

void stamp_value(std::span<char> value, std::uint64_t number) noexcept {
  const std::uint64_t stamp = stamp_of(number);
  std::memcpy(value.data(), &stamp, kStampBytes);
  std::memcpy(value.data() + value.size() - kStampBytes, &stamp, kStampBytes);
}

std::optional<std::uint64_t> number_of(std::string_view value) noexcept {
  if (value.size() < kStampBytes) return std::nullopt;
  std::uint64_t first, last;
  std::memcpy(&first, value.data(), kStampBytes);
  std::memcpy(&last, value.data() + value.size() - kStampBytes, kStampBytes);
  if (value.size() >= 2 * kStampBytes && first != last) return std::nullopt;
  return last * kUnstamp - 1;
}

record_buffer::record_buffer(const record_format& format, std::uint64_t seed)
    : key_(format.key_size),
      value_(format.value_size),
      taken_(format.value_size),
      sizes_(format.sizes),
      least_(format.least_value_size),
      ranks_(format.value_size - format.least_value_size + 1, kTheta) {
  base::random random(seed);
  for (char& letter : value_) letter = static_cast<char>('!' + random.below(94));
}

std::size_t record_buffer::size_of(std::uint64_t number) const noexcept {
  if (sizes_ == value_sizes::constant) return value_.size();
  base::random random(number);
  const std::uint64_t there = value_.size() - least_ + 1;
  return least_ + (sizes_ == value_sizes::uniform ? random.below(there) : ranks_(random));
}

std::string_view record_buffer::value(std::uint64_t number) noexcept {
  const std::span<char> mine = std::span(value_).first(size_of(number));
  stamp_value(mine, number);
  return {mine.data(), mine.size()};
}

bool record_buffer::take(std::string_view value, std::uint64_t number) noexcept {
  if (value.size() != size_of(number)) return false;
  std::memcpy(taken_.data(), value.data(), value.size());
  return number_of({taken_.data(), value.size()}) == number;
}

}  // namespace isotherm::workload
