// Numbers and patterns, read and written as Redis does, since clients match on the results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isotherm::store {

/// A decimal integer in its one canonical spelling: no spaces, no plus, no leading zeros, no "-0".
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

/// Like parse_integer(), for cursors: a whole text that strtoul accepts.
std::optional<std::uint64_t> parse_cursor(std::string_view text) noexcept;

/// A finite or infinite number, all of `text`, without leading spaces, under 5 KiB.
std::optional<long double> parse_float(std::string_view text) noexcept;

/// Fixed notation with up to 17 decimals and no trailing zeros ("3", "10.5"; never "-0").
std::string format_float(long double value);

/// "1.50M": as INFO's *_human fields.
std::string human_bytes(std::uint64_t bytes);

/// Whether upper and lower case of an ASCII letter are the same.
enum class letter_case : std::uint8_t { exact, any };

/// True when `text` matches the glob `pattern`: * ? [abc] [^a-z] \x.
bool matches_glob(std::string_view pattern, std::string_view text,
                  letter_case letters = letter_case::exact) noexcept;

/// Compares ASCII text without regard to case. `lower` must be lower case.
bool equals_folded(std::string_view text, std::string_view lower) noexcept;

std::string to_lower(std::string_view text);

}  // namespace isotherm::store
