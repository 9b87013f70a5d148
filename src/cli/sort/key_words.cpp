#include "cli/sort/key_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace isotherm::cli {
namespace {

std::unexpected<base::error> refused(std::string message) {
  return std::unexpected(base::error{std::move(message), 0});
}

std::optional<key_kind> kind_of(char letter) {
  using enum key_kind;
  using letter_kind = std::pair<char, key_kind>;
  constexpr letter_kind kKinds[] = {{'n', numeric}, {'g', general}, {'h', human},
                                    {'V', version}, {'M', month},   {'R', random}};
  const auto* const found = std::ranges::find(kKinds, letter, &letter_kind::first);
  return found == std::end(kKinds) ? std::nullopt : std::optional(found->second);
}

/// Returns the order of a key that has two letters; none if they exclude each other. A key with V
/// and R is ordered by R alone, as in GNU sort.
std::optional<key_kind> joined_kind(key_kind one, key_kind other) {
  using enum key_kind;
  if (one == text || one == other) return other;
  const auto is_free = [](key_kind kind) { return kind == version || kind == random; };
  return is_free(one) && is_free(other) ? std::optional(random) : std::nullopt;
}

bool* switch_of(char letter, sort_key& key, place side) {
  switch (letter) {
    case 'b':
      return side == place::end ? &key.end_skips_blanks : &key.skips_blanks;
    case 'd':
      return &key.dictionary_only;
    case 'f':
      return &key.folds_case;
    case 'i':
      return &key.printing_only;
    case 'r':
      return &key.reverse;
    default:
      return nullptr;
  }
}

/// Removes a number at the front of `text`. A number that is too large counts as the largest.
std::optional<unsigned> take_number(std::string_view& text) {
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc::invalid_argument) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return failure == std::errc() ? number : std::numeric_limits<unsigned>::max();
}

bool take(std::string_view& text, char c) {
  const bool there = text.starts_with(c);
  if (there) text.remove_prefix(1);
  return there;
}

/// Reads F[.C] and options. `chars` may be 0 only at the end of a key.
base::result<void> take_place(std::string_view& text, unsigned& field, unsigned& chars,
                              sort_key& key, place side) {
  const auto number = take_number(text);
  if (!number) return refused("a field is missing");
  if (*number == 0) return refused("fields are counted from 1");
  field = *number;
  if (take(text, '.')) {
    const auto c = take_number(text);
    if (!c) return refused("a character's number is missing behind the point");
    if (*c == 0 && side == place::begin) return refused("characters are counted from 1");
    chars = *c;
  }
  return take_options(text, key, side);
}

/// The options of `key`, at the places of `at`.
sort_key with_options_of(const sort_key& key, const sort_key& at) {
  sort_key k = key;
  k.first_field = at.first_field;
  k.first_char = at.first_char;
  k.last_field = at.last_field;
  k.last_char = at.last_char;
  k.column = at.column;
  return k;
}

}  // namespace

base::result<void> take_options(std::string_view& letters, sort_key& key, place side) {
  for (; !letters.empty(); letters.remove_prefix(1)) {
    if (bool* const on = switch_of(letters.front(), key, side)) {
      *on = true;
      continue;
    }
    const auto kind = kind_of(letters.front());
    if (!kind) break;
    const auto joined = joined_kind(key.kind, *kind);
    if (!joined) return refused("of g, h, M, n, R and V only one can order a key");
    key.kind = *joined;
  }
  const bool reads_value =
      key.kind != key_kind::text && key.kind != key_kind::version && key.kind != key_kind::random;
  if (reads_value && (key.dictionary_only || key.printing_only)) {
    return refused("d and i leave out what g, h, M and n read");
  }
  return {};
}

base::result<sort_key> parse_key(const std::string& word) {
  sort_key key;
  std::string_view text = word;
  auto read = take_place(text, key.first_field, key.first_char, key, place::begin);
  if (read && take(text, ','))
    read = take_place(text, key.last_field, key.last_char, key, place::end);
  if (read && !text.empty()) {
    read = refused(fmt::format("'{}' is neither an option nor a place", text));
  }
  if (read) return key;
  return refused(fmt::format("-k '{}': {}; give F[.C][OPTS][,F[.C][OPTS]] as --help says", word,
                             read.error().message));
}

sort_key with_options(const sort_key& key, const sort_key& all) {
  const bool has_options = key != with_options_of({}, key);
  return has_options ? key : with_options_of(all, key);
}

base::result<std::vector<sort_key>> parse_keys(const std::vector<std::string>& words,
                                               const sort_key& all) {
  std::vector<sort_key> keys;
  for (const std::string& word : words) {
    auto key = parse_key(word);
    if (!key) return std::unexpected(key.error());
    keys.push_back(with_options(*key, all));
  }
  sort_key reversed;
  reversed.reverse = all.reverse;
  if (keys.empty() && all != reversed) keys.push_back(all);
  return keys;
}

}  // namespace isotherm::cli
