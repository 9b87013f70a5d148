#include "store/commands/times.hpp"

#include <fmt/format.h>

#include <limits>

#include "store/text.hpp"

namespace isotherm::store {

namespace {

std::optional<time_unit> unit_named(std::string_view word) {
  if (equals_folded(word, "ex")) return time_unit{.seconds = true, .absolute = false};
  if (equals_folded(word, "px")) return time_unit{.seconds = false, .absolute = false};
  if (equals_folded(word, "exat")) return time_unit{.seconds = true, .absolute = true};
  if (equals_folded(word, "pxat")) return time_unit{.seconds = false, .absolute = true};
  return std::nullopt;
}

}  // namespace

std::optional<string_options> parse_string_options(call& c, std::size_t first, options_of family) {
  string_options found;
  const bool set = family == options_of::set;
  for (std::size_t i = first; i < c.count(); ++i) {
    const std::string_view word = c[i];
    if (set && equals_folded(word, "nx") && !found.only_existing) {
      found.only_new = true;
    } else if (set && equals_folded(word, "xx") && !found.only_new) {
      found.only_existing = true;
    } else if (set && equals_folded(word, "get")) {
      found.get = true;
    } else if (set && equals_folded(word, "keepttl") && !found.persist && !found.unit) {
      found.keep_ttl = true;
    } else if (!set && equals_folded(word, "persist") && !found.keep_ttl && !found.unit) {
      found.persist = true;
    } else if (const auto unit = unit_named(word); unit && i + 1 < c.count() && !found.keep_ttl &&
                                                   !found.persist &&
                                                   unit == found.unit.value_or(*unit)) {
      found.unit = unit;  // the same word again is no error, and the last one counts
      found.time = c[++i];
    } else {
      c.out.error(errors::kSyntax);
      return std::nullopt;
    }
  }
  return found;
}

std::optional<std::int64_t> parse_positive_time(call& c, std::string_view text, time_unit unit,
                                                std::string_view name) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  const auto value = parse_integer(text);
  if (!value) {
    c.out.error(errors::kNotInteger);
    return std::nullopt;
  }
  std::int64_t time = *value;
  const bool fits = time > 0 && (!unit.seconds || time <= kMax / 1000);
  if (fits && unit.seconds) time *= 1000;
  if (!fits || (!unit.absolute && time > kMax - c.now)) {
    c.out.error(fmt::format("ERR invalid expire time in '{}' command", name));
    return std::nullopt;
  }
  return unit.absolute ? time : time + c.now;
}

}  // namespace isotherm::store
