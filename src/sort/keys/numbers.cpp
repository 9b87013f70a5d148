#include "sort/keys/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

namespace isotherm::sort {
namespace {

bool is_digit(std::byte b) noexcept { return b >= std::byte{'0'} && b <= std::byte{'9'}; }

bytes_view without_blanks(bytes_view text) {
  return text.subspan(
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_blank) - text.begin()));
}

/// Splits off the digits at the front of `text`.
bytes_view take_digits(bytes_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto n = static_cast<std::size_t>(end - text.begin());
  const bytes_view digits = text.first(n);
  text = text.subspan(n);
  return digits;
}

bytes_view without_leading_zeros(bytes_view digits) {
  const auto first = std::ranges::find_if(digits, [](std::byte b) { return b != std::byte{'0'}; });
  return digits.subspan(static_cast<std::size_t>(first - digits.begin()));
}

void append_big_endian(std::uint64_t n, made_key& key) {
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<std::byte>(n >> shift));
}

/// Appends two digits a byte: 1 to 100, so that 0 may end a sequence.
class digit_pairs {
 public:
  explicit digit_pairs(made_key& key) : key_(key) {}
  void add(std::byte digit) {
    const unsigned value = std::to_integer<unsigned>(digit) - '0';
    if (is_half_) {
      key_.back() = static_cast<std::byte>(std::to_integer<unsigned>(key_.back()) + value);
    } else {
      key_.push_back(static_cast<std::byte>(value * 10 + 1));
    }
    is_half_ = !is_half_;
  }

 private:
  made_key& key_;
  bool is_half_ = false;
};

/// The parts of a decimal number at the front of a text.
struct decimal {
  bool is_negative = false;
  bytes_view whole;     // digits before the point, without leading zeros
  bytes_view fraction;  // digits behind the point, without trailing zeros
  bytes_view rest;      // of the text

  bool is_zero() const noexcept { return whole.empty() && fraction.empty(); }
};

decimal decimal_at(bytes_view text) {
  decimal d;
  d.is_negative = !text.empty() && text.front() == std::byte{'-'};
  if (d.is_negative) text = text.subspan(1);
  d.whole = without_leading_zeros(take_digits(text));
  if (!text.empty() && text.front() == std::byte{'.'}) {
    text = text.subspan(1);
    d.fraction = take_digits(text);
  }
  while (!d.fraction.empty() && d.fraction.back() == std::byte{'0'}) {
    d.fraction = d.fraction.first(d.fraction.size() - 1);
  }
  d.rest = text;
  return d;
}

/// The first byte of a number's code is 0x80 for zero. For others it is 0xc0 plus the decimal
/// exponent, or, where that is large, a mark that is followed by the exponent in 8 bytes; then come
/// the digits and a 0. All bytes of a negative number are complemented.
void append_decimal(const decimal& d, made_key& key) {
  constexpr std::int64_t kMost = 58;
  constexpr std::byte kZero{0x80};
  constexpr std::byte kTiny{0x81};
  constexpr std::int64_t kBias = 0xc0;
  constexpr std::byte kHuge{0xff};
  if (d.is_zero()) return key.push_back(kZero);
  const std::size_t begin = key.size();
  const bytes_view fraction = d.whole.empty() ? without_leading_zeros(d.fraction) : d.fraction;
  const std::int64_t exponent = d.whole.empty() ? static_cast<std::int64_t>(fraction.size()) -
                                                      static_cast<std::int64_t>(d.fraction.size())
                                                : static_cast<std::int64_t>(d.whole.size());
  if (exponent >= -kMost && exponent <= kMost) {
    key.push_back(static_cast<std::byte>(kBias + exponent));
  } else {
    key.push_back(exponent < 0 ? kTiny : kHuge);
    append_big_endian(static_cast<std::uint64_t>(exponent), key);
  }
  bytes_view whole = d.whole;
  while (fraction.empty() && whole.back() == std::byte{'0'}) whole = whole.first(whole.size() - 1);
  digit_pairs digits(key);
  for (const std::byte digit : whole) digits.add(digit);
  for (const std::byte digit : fraction) digits.add(digit);
  key.push_back(std::byte{0});
  if (!d.is_negative) return;
  for (auto& b : std::span(key).subspan(begin)) b = ~b;
}

constexpr int kMantissaBits = 64;

/// 1 for k or K, 2 for M, and so on; 0 for none.
int unit_at(bytes_view text) {
  constexpr std::string_view kUnits = "KMGTPEZY";
  if (text.empty()) return 0;
  const char unit = std::to_integer<char>(text.front());
  const auto found = kUnits.find(unit == 'k' ? 'K' : unit);
  return found == std::string_view::npos ? 0 : static_cast<int>(found) + 1;
}

}  // namespace

void append_numeric(bytes_view text, made_key& key) {
  append_decimal(decimal_at(without_blanks(text)), key);
}

void append_human(bytes_view text, made_key& key) {
  constexpr int kNoUnit = 0x40;
  const decimal d = decimal_at(without_blanks(text));
  const int unit = d.is_zero() ? 0 : unit_at(d.rest);
  key.push_back(static_cast<std::byte>(kNoUnit + (d.is_negative ? -unit : unit)));
  append_decimal(d, key);
}

void append_general(bytes_view text, made_key& key) {
  enum : unsigned char { none, nan, negative, zero, positive };
  constexpr std::size_t kBytes = 10;  // of a long double, without what fills it up
  static_assert(std::numeric_limits<long double>::digits == kMantissaBits);
  const std::string copy(reinterpret_cast<const char*>(text.data()), text.size());
  char* end = nullptr;
  const long double number = std::strtold(copy.c_str(), &end);
  const bool is_negative = std::signbit(number);
  if (end == copy.c_str()) return key.push_back(std::byte{none});
  if (std::isnan(number)) {
    key.push_back(std::byte{nan});
    const auto bytes = std::as_bytes(std::span(&number, 1)).first(kBytes);
    key.insert(key.end(), bytes.begin(), bytes.end());
    return;
  }
  if (number == 0) return key.push_back(std::byte{zero});
  int exponent = 0;
  const long double mantissa = std::frexp(std::fabs(number), &exponent);
  const bool is_infinite = std::isinf(number);
  key.push_back(std::byte{is_negative ? negative : positive});
  const std::size_t begin = key.size();
  constexpr int kBias = 1 << 16;  // above the largest exponent's size
  append_big_endian(static_cast<std::uint64_t>(is_infinite ? 2 * kBias : exponent + kBias), key);
  key.erase(key.end() - 8, key.end() - 3);  // three bytes hold it
  append_big_endian(
      is_infinite ? 0 : static_cast<std::uint64_t>(std::ldexp(mantissa, kMantissaBits)), key);
  if (!is_negative) return;
  for (auto& b : std::span(key).subspan(begin)) b = ~b;
}

void append_month(bytes_view text, made_key& key) {
  static constexpr std::array<std::string_view, 12> kMonths = {
      "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
  const bytes_view name = without_blanks(text);
  unsigned char number = 0;
  std::string begin;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, name.size()); ++i) {
    const char c = std::to_integer<char>(name[i]);
    begin += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  const auto found = std::ranges::find(kMonths, begin);
  if (found != kMonths.end()) number = static_cast<unsigned char>(found - kMonths.begin() + 1);
  key.push_back(std::byte{number});
}

void append_natural(bytes_view digits, made_key& key) {
  constexpr std::size_t kFew = 0xff;
  const bytes_view value = without_leading_zeros(digits);
  key.push_back(static_cast<std::byte>(std::min(value.size(), kFew)));
  if (value.size() >= kFew) append_big_endian(value.size(), key);
  digit_pairs pairs(key);
  for (const std::byte digit : value) pairs.add(digit);
}

}  // namespace isotherm::sort
