#include "sort/keys/key_order.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "sort/keys/csv.hpp"
#include "sort/keys/versions.hpp"

namespace isotherm::sort {
namespace {

bool is_letter_or_digit(std::byte b) noexcept {
  const auto lower = b | std::byte{0x20};
  return (b >= std::byte{'0'} && b <= std::byte{'9'}) ||
         (lower >= std::byte{'a'} && lower <= std::byte{'z'});
}

bool counts(const sort_key& k, std::byte b) noexcept {
  if (k.dictionary_only) return is_blank(b) || is_letter_or_digit(b);
  return !k.printing_only || (b >= std::byte{' '} && b <= std::byte{'~'});
}

std::byte folded(const sort_key& k, std::byte b) noexcept {
  const bool is_lower = b >= std::byte{'a'} && b <= std::byte{'z'};
  return k.folds_case && is_lower ? b ^ std::byte{0x20} : b;
}

bool changes_text(const sort_key& k) noexcept {
  return k.folds_case || k.dictionary_only || k.printing_only;
}

/// Appends text that ends with a 0; zeros and ones in it become two bytes.
void append_ended(bytes_view text, made_key& key, std::size_t enough) {
  for (const std::byte b : text) {
    if (key.size() >= enough) return;
    if (b <= std::byte{1}) key.push_back(std::byte{1});
    key.push_back(b <= std::byte{1} ? b | std::byte{2} : b);
  }
  key.push_back(std::byte{0});
}

void append_hash(bytes_view text, std::uint64_t seed, made_key& key) {
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits_withSeed(text.data(), text.size(), seed));
  const auto bytes = std::as_bytes(std::span(hash.digest));
  key.insert(key.end(), bytes.begin(), bytes.end());
}

/// The most bytes of a made key: so many, and so many for each byte of its text.
struct made_room {
  std::uint64_t fixed;
  std::uint64_t of_each;
};

made_room room_of(key_kind kind) noexcept {
  switch (kind) {
    case key_kind::text:
      return {1, 1};  // its end
    case key_kind::numeric:
      return {2, 1};  // exponent and end; two digits a byte
    case key_kind::human:
      return {3, 1};
    case key_kind::general:
      return {12, 0};
    case key_kind::version:
      return {7, 4};  // the text twice, and three bytes for each number in it
    case key_kind::month:
      return {1, 0};
    case key_kind::random:
      return {16, 0};
  }
  return {};
}

}  // namespace

key_order::key_order(const sort_options& o)
    : csv_(o.csv),
      reverse_(o.reverse),
      separator_(o.csv ? delimiter_of(o) : static_cast<std::byte>(o.separator.value_or('\t'))),
      seed_(o.random_seed) {
  for (const sort_key& k : o.keys) keys_.push_back({k, key_finder(k, o.separator)});
  const auto lies_there = [&](const sort_key& k) {
    return k.kind == key_kind::text && !changes_text(k) && k.reverse == o.reverse;
  };
  const auto covers_line = [](const sort_key& k) {
    return k.first_field == 1 && k.first_char == 1 && k.last_field == 0 && !k.skips_blanks;
  };
  if (keys_.size() == 1 && lies_there(o.keys.front()) && covers_line(o.keys.front()) && !csv_) {
    keys_.clear();
  }
  made_ = keys_.size() > 1 || (keys_.size() == 1 && (csv_ || !lies_there(keys_.front().key)));
}

part key_order::find(std::uint64_t bytes, const key_finder::reading& read) const {
  return keys_.empty() ? part{0, bytes} : keys_.front().finder.find(bytes, read);
}

void key_order::make(bytes_view line, made_key& key, std::size_t enough) const {
  constexpr std::size_t kUsual = 64;
  key.clear();
  key.reserve(kUsual);  // an empty key has an address, too
  made_key contents;
  made_key changed;
  for (const one& k : keys_) {
    if (key.size() >= enough) return;
    bytes_view text = text_of(k, line, contents);
    if (changes_text(k.key)) {
      changed.clear();
      for (const std::byte b : text) {
        if (counts(k.key, b)) changed.push_back(folded(k.key, b));
      }
      text = changed;
    }
    const std::size_t begin = key.size();
    append(k, text, key, enough);
    if (k.key.reverse == reverse_) continue;
    for (auto& b : std::span(key).subspan(begin)) b = ~b;
  }
}

/// Finds a key as it stands in the line.
part key_order::find(const one& k, bytes_view line) const {
  if (!csv_) return k.finder.find(line);
  const unsigned column = k.key.first_field;
  return k.key.last_field == 0 ? find_columns_from(line, column, separator_)
                               : find_column(line, column, separator_);
}

/// Returns the text of a key that is ordered. Contents of a column may lie in `room`.
bytes_view key_order::text_of(const one& k, bytes_view line, std::vector<std::byte>& room) const {
  const part at = find(k, line);
  const bytes_view text = line.subspan(at.begin, at.end - at.begin);
  if (!csv_ || k.key.last_field == 0) return text;
  const bytes_view contents = contents_of(text, room);
  const auto is_counted = [](std::byte b) { return !is_blank(b); };
  const auto begin =
      k.key.skips_blanks ? std::ranges::find_if(contents, is_counted) : contents.begin();
  return {begin, contents.end()};
}

void key_order::append(const one& k, bytes_view text, made_key& key, std::size_t enough) const {
  switch (k.key.kind) {
    case key_kind::numeric:
      return append_numeric(text, key);
    case key_kind::general:
      return append_general(text, key);
    case key_kind::human:
      return append_human(text, key);
    case key_kind::version:
      return append_version(text, key);
    case key_kind::month:
      return append_month(text, key);
    case key_kind::random:
      return append_hash(text, seed_, key);
    case key_kind::text:
      break;
  }
  // The last key needs no end, unless it is complemented: the shorter of two then goes last.
  if (&k != &keys_.back() || k.key.reverse != reverse_) return append_ended(text, key, enough);
  key.insert(key.end(), text.begin(), text.end());
}

std::uint64_t key_order::most_made_bytes(std::uint64_t bytes) const noexcept {
  std::uint64_t fixed = 0;
  std::uint64_t whole = 0;   // of each byte, by keys that reach to the end of the line
  std::uint64_t fields = 0;  // by the others, which share the bytes
  for (const one& k : keys_) {
    const made_room room = room_of(k.key.kind);
    fixed += room.fixed;
    const bool to_end = k.key.last_field == 0 && k.key.column.empty();
    if (to_end) whole += room.of_each;
    if (!to_end) fields = std::max(fields, room.of_each);
  }
  return fixed + (whole + fields) * bytes;
}

made_key key_order::text(bytes_view line) const {
  if (keys_.empty()) return {line.begin(), line.end()};
  made_key all;
  for (const one& k : keys_) {
    if (&k != &keys_.front()) all.push_back(separator_);
    const part at = find(k, line);
    all.insert(all.end(), line.begin() + static_cast<std::ptrdiff_t>(at.begin),
               line.begin() + static_cast<std::ptrdiff_t>(at.end));
  }
  return all;
}

}  // namespace isotherm::sort
