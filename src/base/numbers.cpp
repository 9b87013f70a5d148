#include "base/numbers.hpp"

#include <charconv>
#include <cmath>

namespace isotherm::base {
namespace {

template <class Number>
std::optional<Number> parse_all(std::string_view text) noexcept {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, value);
  if (problem != std::errc() || end != last) return std::nullopt;
  return value;
}

template <class Number>
std::optional<Number> parse_within(std::string_view text, Number least, Number most) noexcept {
  const auto value = parse_all<Number>(text);
  if (!value || *value < least || *value > most) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_whole(std::string_view text, std::int64_t least,
                                        std::int64_t most) noexcept {
  return parse_within(text, least, most);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text, std::uint64_t least,
                                            std::uint64_t most) noexcept {
  return parse_within(text, least, most);
}

std::optional<double> parse_real(std::string_view text) noexcept {
  const auto value = parse_all<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

}  // namespace isotherm::base
