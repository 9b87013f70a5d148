#include "cli/sort/column_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/sort/key_words.hpp"

namespace isotherm::cli {
namespace {

std::unexpected<base::error> refused(std::string message) {
  return std::unexpected(base::error{std::move(message), 0});
}

/// Reads options that fill all of `letters`, for both ends of a key.
base::result<void> take_all_options(std::string_view letters, sort_key& key) {
  if (auto r = take_options(letters, key, place::begin); !r) return r;
  key.end_skips_blanks = key.skips_blanks;
  if (letters.empty()) return {};
  return refused(fmt::format("'{}' is no option", letters));
}

/// Reads NUMBER[OPTS], NAME[:OPTS] or "NAME"[:OPTS].
base::result<sort_key> parse_column(const std::string& word) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!word.empty() && is_digit(word.front())) {
    auto key = parse_key(word);
    if (key && key->last_field == 0) key->last_field = key->first_field;
    if (key || std::ranges::all_of(word, is_digit)) return key;
  }
  sort_key key;
  std::string_view name = word;
  const bool is_quoted = name.starts_with('"') && name.rfind('"') > 0;
  const auto quote = is_quoted ? name.rfind('"') : 0;
  const auto colon = name.rfind(':');
  if (colon != name.npos && colon >= quote) {
    const auto read = take_all_options(name.substr(colon + 1), key);
    if (read) name = name.substr(0, colon);
    if (!read) key = {};
  }
  if (is_quoted && name.size() == quote + 1) name = name.substr(1, quote - 1);
  if (name.empty()) return refused("-k: give the number or the name of a column");
  key.column = name;
  return key;
}

}  // namespace

base::result<std::vector<sort_key>> parse_columns(const std::vector<std::string>& words,
                                                  const sort_key& all) {
  std::vector<sort_key> keys;
  for (const std::string& word : words) {
    auto key = parse_column(word);
    if (!key) return std::unexpected(key.error());
    keys.push_back(with_options(*key, all));
  }
  const bool orders_rows = all.kind == key_kind::random;
  if (keys.empty() && orders_rows) keys.push_back(all);
  if (keys.empty() && all != sort_key{.reverse = all.reverse}) {
    return refused("--csv: name by -k the column that the flags of its order are for");
  }
  return keys;
}

}  // namespace isotherm::cli
