#include "base/numbers.hpp"

#include <algorithm>
#include <limits>

namespace isotherm::base {
namespace {

struct unit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr unit kUnits[] = {{"", 1},
                           {"b", 1},
                           {"k", 1000},
                           {"kb", 1u << 10U},
                           {"m", 1000000},
                           {"mb", 1u << 20U},
                           {"g", 1000000000},
                           {"gb", 1u << 30U},
                           {"t", 1000000000000},
                           {"tb", std::uint64_t{1} << 40U}};

bool is_same_word(std::string_view given, std::string_view lower_case) noexcept {
  return std::ranges::equal(given, lower_case,
                            [](char one, char other) { return (one | 0x20) == other; });
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0) return std::nullopt;
  const std::uint64_t number = parse_number<std::uint64_t>(text.substr(0, digits)).value_or(kMost);
  for (const unit& each : kUnits) {
    if (!is_same_word(text.substr(digits), each.name)) continue;
    return number > kMost / each.bytes ? kMost : number * each.bytes;
  }
  return std::nullopt;
}

std::string format_bytes(std::uint64_t bytes) {
  const unit* found = &kUnits[0];
  for (const unit& each : kUnits) {
    const bool is_binary = each.name.size() == 2;
    if (is_binary && bytes != 0 && bytes % each.bytes == 0) found = &each;
  }
  return std::to_string(bytes / found->bytes) + std::string(found->name);
}

}  // namespace isotherm::base
