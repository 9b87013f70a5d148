#include "sort/keys/versions.hpp"

#include <array>
#include <string_view>

namespace isotherm::sort {
namespace {

bool is_digit(std::byte b) noexcept { return b >= std::byte{'0'} && b <= std::byte{'9'}; }
bool is_letter(std::byte b) noexcept {
  const auto lower = b | std::byte{0x20};
  return lower >= std::byte{'a'} && lower <= std::byte{'z'};
}

enum : unsigned char { tilde = 1, segment_end = 2, first_letter = 3 };

/// Codes of characters that are no digits, from 1: `~`, the end of a segment, letters, others.
constexpr std::array<unsigned char, 256> make_codes() {
  std::array<unsigned char, 256> codes{};
  unsigned char next = first_letter;
  for (const bool letters : {true, false}) {
    for (unsigned c = 0; c < 256; ++c) {
      const bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      if (is_letter != letters || (c >= '0' && c <= '9') || c == '~') continue;
      codes[c] = next++;
    }
  }
  codes['~'] = tilde;
  return codes;
}

constexpr auto kCodes = make_codes();

/// Appends segments of a text's characters that are no digits, each with the number behind it. A
/// text that ends, and one that goes on with zeros, are the same here; an end that follows is less
/// than all that can come but `~`.
void append_segments(bytes_view text, made_key& key) {
  for (std::size_t at = 0; at < text.size();) {
    while (at < text.size() && !is_digit(text[at])) {
      key.push_back(std::byte{kCodes[std::to_integer<unsigned>(text[at++])]});
    }
    key.push_back(std::byte{segment_end});
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    append_natural(text.subspan(begin, at - begin), key);
  }
  key.push_back(std::byte{segment_end});
}

/// Length of `text` without its longest suffix of parts as .tar or .gz~.
std::size_t length_without_suffix(bytes_view text) {
  const auto begins_part = [](std::byte b) { return is_letter(b) || b == std::byte{'~'}; };
  std::size_t length = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (i + 1 < text.size() && text[i] == std::byte{'.'} && begins_part(text[i + 1])) {
      for (i += 2; i < text.size() && (begins_part(text[i]) || is_digit(text[i]));) ++i;
    } else {
      length = ++i;
    }
  }
  return length;
}

}  // namespace

void append_version(bytes_view text, made_key& key) {
  enum : unsigned char { empty, dot, two_dots, hidden, other };
  const std::string_view name(reinterpret_cast<const char*>(text.data()), text.size());
  if (name.empty()) return key.push_back(std::byte{empty});
  if (name == ".") return key.push_back(std::byte{dot});
  if (name == "..") return key.push_back(std::byte{two_dots});
  key.push_back(std::byte{name.front() == '.' ? hidden : other});
  append_segments(text.first(length_without_suffix(text)), key);
  append_segments(text, key);
}

}  // namespace isotherm::sort
