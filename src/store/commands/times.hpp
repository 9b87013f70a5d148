// Times to live, as arguments.
#pragma once

#include <optional>

#include "store/commands/command.hpp"

namespace isotherm::store {

/// How a time argument is meant.
struct time_unit {
  bool seconds = true;    ///< else milliseconds
  bool absolute = false;  ///< since 1970, else from now
  bool operator==(const time_unit&) const = default;
};

/// The options that SET and GETEX share.
struct string_options {
  bool only_new = false, only_existing = false, get = false, keep_ttl = false, persist = false;
  std::optional<time_unit> unit;
  std::string_view time;
};

/// The command whose options are parsed.
enum class options_of : std::uint8_t { set, getex };
/// Parses the arguments from `first` on; answers with an error and returns nullopt on a bad one.
std::optional<string_options> parse_string_options(call& c, std::size_t first, options_of family);

/// The moment, in ms since 1970, that a positive time argument means; answers with an error and
/// returns nullopt otherwise. `command` is named in the error.
std::optional<std::int64_t> parse_positive_time(call& c, std::string_view text, time_unit unit,
                                                std::string_view command);

}  // namespace isotherm::store
