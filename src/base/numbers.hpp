// Numbers as people write them: decimal digits, all of the text, nothing around them.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace isotherm::base {

/// Returns the number that `text` is, when it is one from `least` to `most`: "3", of a real one
/// also "0.5" and "1e-3", and "inf" only where `most` is infinite; never NaN. Leading zeros change
/// nothing: "010" is ten.
template <class Number>
std::optional<Number> parse_number(std::string_view text,
                                   Number least = std::numeric_limits<Number>::lowest(),
                                   Number most = std::numeric_limits<Number>::max()) noexcept {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, value);
  if (problem != std::errc() || end != last) return std::nullopt;
  return value >= least && value <= most ? std::optional(value) : std::nullopt;
}

/// The bytes that `text` says, as Redis writes sizes: "100", "100b", "1k" (1000), "1kb" (1024),
/// "2mb", "3G", "1tb", in either case. A number that does not fit becomes the greatest one.
std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept;
/// Bytes as parse_bytes() reads them, exactly, with the largest unit that allows it: "512mb".
std::string format_bytes(std::uint64_t bytes);

}  // namespace isotherm::base
