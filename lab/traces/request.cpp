#include "lab/traces/request.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace isotherm::traces {
namespace {

constexpr std::array<std::string_view, kOperations> kNames = {"get", "set", "delete", "incr",
                                                              "seek"};

// Words are in lower case.
constexpr auto kWords = std::to_array<std::pair<std::string_view, operation>>({
    {"get", operation::get},          {"gets", operation::get},   {"mget", operation::get},
    {"read", operation::get},         {"r", operation::get},      {"get_lease", operation::get},
    {"getchunkdata", operation::get}, {"28", operation::get},     {"88", operation::get},
    {"set", operation::set},          {"add", operation::set},    {"replace", operation::set},
    {"cas", operation::set},          {"append", operation::set}, {"prepend", operation::set},
    {"put", operation::set},          {"write", operation::set},  {"w", operation::set},
    {"set_lease", operation::set},    {"update", operation::set}, {"insert", operation::set},
    {"putchunk", operation::set},     {"2a", operation::set},     {"8a", operation::set},
    {"delete", operation::remove},    {"del", operation::remove}, {"remove", operation::remove},
    {"incr", operation::incr},        {"decr", operation::incr},  {"seek", operation::seek},
    {"scan", operation::seek},
});

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

}  // namespace

std::string_view name_of(operation kind) noexcept { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<operation> parse_operation(std::string_view word) noexcept {
  // CacheLib's block traces add a class of requests behind a point: "putChunk.Permanent".
  word = word.substr(0, word.find('.'));
  for (const auto& [known, kind] : kWords) {
    if (std::ranges::equal(word, known, {}, lower)) return kind;
  }
  return std::nullopt;
}

}  // namespace isotherm::traces
