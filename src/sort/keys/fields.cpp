#include "sort/keys/fields.hpp"

#include <algorithm>
#include <cstring>

namespace isotherm::sort {

/// Looks for a place in a line that comes in pieces.
class key_finder::search {
 public:
  search(const place& wanted, std::optional<std::byte> separator)
      : left_(wanted), separator_(separator) {}

  /// Takes the next piece of the line. Returns how many of its bytes lie before the place: all of
  /// them unless done().
  std::size_t take(bytes_view piece) {
    std::size_t at = 0;
    while (left_.fields > 0) {
      if (separator_ ? !pass_separator(piece, at, *separator_) : !pass_word(piece, at)) return at;
    }
    if (left_.skips_blanks) {
      while (at < piece.size() && is_blank(piece[at])) ++at;
      if (at == piece.size()) return at;
      left_.skips_blanks = false;
    }
    const std::uint64_t chars = std::min<std::uint64_t>(left_.chars, piece.size() - at);
    left_.chars -= chars;
    done_ = left_.chars == 0;
    return at + chars;
  }
  bool done() const noexcept { return done_; }

 private:
  bool pass_separator(bytes_view piece, std::size_t& at, std::byte separator) {
    if (at == piece.size()) return false;
    const void* found = std::memchr(&piece[at], std::to_integer<int>(separator), piece.size() - at);
    at = found == nullptr
             ? piece.size()
             : static_cast<std::size_t>(static_cast<const std::byte*>(found) - piece.data());
    if (found == nullptr) return false;
    done_ = left_.fields == 1 && left_.before_separator;
    if (done_) return false;
    ++at;
    --left_.fields;
    return true;
  }
  bool pass_word(bytes_view piece, std::size_t& at) {
    while (!in_word_ && at < piece.size() && is_blank(piece[at])) ++at;
    in_word_ = in_word_ || at < piece.size();
    while (at < piece.size() && !is_blank(piece[at])) ++at;
    if (at == piece.size()) return false;
    in_word_ = false;
    --left_.fields;
    return true;
  }

  place left_;
  const std::optional<std::byte> separator_;
  bool in_word_ = false;
  bool done_ = false;
};

key_finder::key_finder(const sort_key& key, std::optional<char> separator)
    : begin_{.fields = key.first_field - 1u,
             .skips_blanks = key.skips_blanks,
             .chars = key.first_char - 1u},
      end_{.fields = key.last_char == 0 ? key.last_field : key.last_field - 1u,
           .skips_blanks = key.last_char != 0 && key.end_skips_blanks,
           .chars = key.last_char,
           .before_separator = key.last_char == 0},
      to_end_of_line_(key.last_field == 0) {
  if (separator) separator_ = static_cast<std::byte>(*separator);
}

template <class Read>
part key_finder::find_by(std::uint64_t bytes, const Read& read) const {
  const auto walk = [&](const place& wanted, std::uint64_t from) {
    search s(wanted, separator_);
    while (!s.done() && from < bytes) {
      const bytes_view piece = read(from, bytes - from);
      if (piece.empty()) return from;
      from += s.take(piece);
    }
    return from;
  };
  const std::uint64_t field = walk({.fields = begin_.fields}, 0);
  place in_field = begin_;
  in_field.fields = 0;
  const std::uint64_t begin = walk(in_field, field);
  if (to_end_of_line_) return {begin, bytes};
  place rest = end_;  // from the field on, where the end is not before it
  const bool is_before = end_.fields < begin_.fields;
  if (!is_before) rest.fields -= begin_.fields;
  return {begin, std::max(begin, walk(rest, is_before ? 0 : field))};
}

part key_finder::find(std::uint64_t bytes, const reading& read) const {
  return find_by(bytes, read);
}

part key_finder::find(bytes_view line) const {
  return find_by(line.size(),
                 [&](std::uint64_t offset, std::uint64_t) { return line.subspan(offset); });
}

}  // namespace isotherm::sort
