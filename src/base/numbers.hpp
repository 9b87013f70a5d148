// Numbers as people write them: decimal digits, all of the text, nothing around them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace isotherm::base {

/// The whole number that `text` is, when it is one from `least` to `most`. Leading zeros change
/// nothing: "010" is ten.
std::optional<std::int64_t> parse_whole(std::string_view text, std::int64_t least,
                                        std::int64_t most) noexcept;

/// Parses numbers without a sign in the same way.
std::optional<std::uint64_t> parse_unsigned(
    std::string_view text, std::uint64_t least = 0,
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) noexcept;

/// The bytes that `text` says, as Redis writes sizes: "100", "100b", "1k" (1000), "1kb" (1024),
/// "2mb", "3G", "1tb", in either case. A number that does not fit becomes the greatest one.
std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept;
/// Bytes as parse_bytes() reads them, exactly, with the largest unit that allows it: "512mb".
std::string format_bytes(std::uint64_t bytes);

/// The finite number that `text` is: "3", "0.5", "1e-3".
std::optional<double> parse_real(std::string_view text) noexcept;

}  // namespace isotherm::base
