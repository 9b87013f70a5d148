#include "store/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/numbers.hpp"

namespace isotherm::store {

namespace {

constexpr std::size_t kLongestFloat =
    std::size_t{5} * 1024;  // the largest long double has 4933 digits

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

/// Matches `c` with the bracket expression at the head of `pattern` (after the '['); removes that.
bool matches_class(std::string_view& pattern, char c, letter_case letters) noexcept {
  const auto fold = [letters](char x) { return letters == letter_case::any ? lower(x) : x; };
  const bool negated = !pattern.empty() && pattern[0] == '^';
  if (negated) pattern.remove_prefix(1);
  bool found = false;
  for (;;) {
    if (pattern.empty()) break;  // an unclosed class ends with the pattern
    if (pattern[0] == '\\' && pattern.size() >= 2) {
      if (fold(pattern[1]) == fold(c)) found = true;
      pattern.remove_prefix(2);
    } else if (pattern[0] == ']') {
      pattern.remove_prefix(1);
      break;
    } else if (pattern.size() >= 3 && pattern[1] == '-') {
      auto low = static_cast<unsigned char>(fold(pattern[0]));
      auto high = static_cast<unsigned char>(fold(pattern[2]));
      if (low > high) std::swap(low, high);
      const auto at = static_cast<unsigned char>(fold(c));
      if (at >= low && at <= high) found = true;
      pattern.remove_prefix(3);
    } else {
      if (fold(pattern[0]) == fold(c)) found = true;
      pattern.remove_prefix(1);
    }
  }
  return found != negated;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  std::string_view digits = text;
  if (!digits.empty() && digits[0] == '-') digits.remove_prefix(1);
  if (digits.empty() || digits.size() > 19) return std::nullopt;
  if (digits[0] == '0' && text.size() > 1) return std::nullopt;
  return base::parse_number<std::int64_t>(text);
}

std::optional<std::uint64_t> parse_cursor(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  const auto value = base::parse_number<std::uint64_t>(text);
  return value && negative ? -*value : value;
}

std::optional<long double> parse_float(std::string_view text) noexcept {
  char buffer[kLongestFloat];
  if (text.empty() || text.size() >= sizeof buffer) return std::nullopt;
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = 0;
  if (std::strchr(" \t\n\v\f\r", buffer[0])) return std::nullopt;
  errno = 0;
  char* end = nullptr;
  const long double value = std::strtold(buffer, &end);
  if (end != buffer + text.size() || std::isnan(value)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return std::nullopt;
  return value;
}

std::string format_float(long double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[kLongestFloat];
  const int length = std::snprintf(buffer, sizeof buffer, "%.17Lf", value);
  std::string text(buffer, static_cast<std::size_t>(length));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{}B", bytes);
  const char* units = "KMGTP";
  double value = static_cast<double>(bytes) / 1024;
  while (value >= 1024 && units[1]) value /= 1024, ++units;
  return fmt::format("{:.2f}{}", value, *units);
}

bool matches_glob(std::string_view pattern, std::string_view text, letter_case letters) noexcept {
  // Only the last star can matter: when what follows it fails, try one byte further. This keeps
  // hostile patterns ("a*a*a*a*b") at pattern x text instead of exponential time.
  std::string_view retry_pattern;
  std::string_view retry_text;
  bool can_retry = false;
  for (;;) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      if (pattern.empty()) return true;
      retry_pattern = pattern;
      retry_text = text;
      can_retry = true;
      continue;
    }
    if (pattern.empty() && text.empty()) return true;
    std::string_view rest = pattern;
    bool same = false;
    if (!text.empty() && !rest.empty()) {
      const char c = rest[0];
      rest.remove_prefix(1);
      if (c == '?') {
        same = true;
      } else if (c == '[') {
        same = matches_class(rest, text[0], letters);
      } else {
        char literal = c;
        if (c == '\\' && !rest.empty()) {
          literal = rest[0];
          rest.remove_prefix(1);
        }
        same = letters == letter_case::any ? lower(literal) == lower(text[0]) : literal == text[0];
      }
    }
    if (same) {
      pattern = rest;
      text.remove_prefix(1);
      continue;
    }
    if (!can_retry || retry_text.empty()) return false;
    retry_text.remove_prefix(1);
    text = retry_text;
    pattern = retry_pattern;
  }
}

bool equals_folded(std::string_view text, std::string_view lower_case) noexcept {
  if (text.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != lower_case[i]) return false;
  }
  return true;
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

}  // namespace isotherm::store
