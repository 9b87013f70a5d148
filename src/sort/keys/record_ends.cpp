#include "sort/keys/record_ends.hpp"

namespace isotherm::sort {

// Most rows have no quotes: two searches by a library pass them.
std::size_t record_ends::find_row(bytes_view text) {
  if (at_ != place::field_begin) return step_to_end(text);
  const std::size_t end = find_byte(text, 0, static_cast<std::byte>(line_end_));
  if (find_byte(text.first(end), 0, kQuote) < end || end == text.size()) return step_to_end(text);
  return end + 1;
}

std::size_t record_ends::step_to_end(bytes_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (at_ == place::quoted) {
      i = find_byte(text, i, kQuote);
      if (i == text.size()) break;
      at_ = place::behind_quote;
      ++i;
      continue;
    }
    const std::byte b = text[i++];
    if (b == static_cast<std::byte>(line_end_)) {
      at_ = place::field_begin;
      return i;
    }
    if (b == kQuote && at_ != place::plain) {
      at_ = place::quoted;
    } else {
      at_ = b == delimiter_ ? place::field_begin : place::plain;
    }
  }
  return 0;
}

}  // namespace isotherm::sort
