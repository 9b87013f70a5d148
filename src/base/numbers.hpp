// Numbers as people write them: decimal digits, all of the text, nothing around them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
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

/// The finite number that `text` is: "3", "0.5", "1e-3".
std::optional<double> parse_real(std::string_view text) noexcept;

}  // namespace isotherm::base
