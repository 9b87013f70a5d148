#include "server/resp_parser.hpp"

#include <algorithm>
#include <climits>

#include "store/text.hpp"

namespace isotherm::server {

namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 10;
constexpr std::int64_t kStrangersBulks = 10;
constexpr std::int64_t kStrangersBulkLength = 16384;

/// How many arguments room is made for at once: a client may announce more than it ever sends.
constexpr std::int64_t kRoomAtOnce = 1024;

/// Empties a list; a short one keeps its memory for the next command.
template <class T>
void empty(std::vector<T>& list) noexcept {
  constexpr std::size_t kKept = 8;
  list.clear();
  if (list.capacity() > kKept) std::vector<T>().swap(list);
}

template <class T>
std::size_t room_bytes(const std::vector<T>& list) noexcept {
  return list.capacity() * sizeof(T);
}

bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
/// Redis skips vertical tabs and form feeds before a word, but they do not end one.
bool ends_word(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The character for the escape sequence at `at`, behind the backslash in double quotes; moves `at`
/// behind it.
char unescape(std::string_view line, std::size_t& at) noexcept {
  const char c = line[at];
  if (c == 'x' && at + 2 < line.size() && hex_digit(line[at + 1]) >= 0 &&
      hex_digit(line[at + 2]) >= 0) {
    const int value = hex_digit(line[at + 1]) * 16 + hex_digit(line[at + 2]);
    at += 3;
    return static_cast<char>(value);
  }
  ++at;
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

/// Reads the quoted part that begins at `at`; false when its end is missing, or followed by
/// something other than a space.
bool read_quoted(std::string_view line, std::size_t& at, std::string& word) {
  const char quote = line[at++];
  while (at < line.size()) {
    const char c = line[at];
    if (c == quote) {
      ++at;
      return at == line.size() || is_space(line[at]);
    }
    if (c == '\\' && at + 1 < line.size() && (quote == '"' || line[at + 1] == '\'')) {
      ++at;
      word.push_back(quote == '"' ? unescape(line, at) : line[at++]);
    } else {
      word.push_back(c);
      ++at;
    }
  }
  return false;
}

}  // namespace

bool split_words(std::string_view line, std::vector<std::string>& words) {
  words.clear();
  std::size_t at = 0;
  for (;;) {
    while (at < line.size() && is_space(line[at])) ++at;
    if (at == line.size()) return true;
    std::string word;
    while (at < line.size() && !ends_word(line[at])) {
      if (line[at] == '"' || line[at] == '\'') {
        if (!read_quoted(line, at, word)) return false;
        break;
      }
      word.push_back(line[at++]);
    }
    words.push_back(std::move(word));
  }
}

std::size_t resp_parser::held_bytes() const noexcept {
  return room_bytes(offsets_) + room_bytes(arguments_) + room_bytes(words_);
}

void resp_parser::release() noexcept {
  empty(offsets_);
  empty(arguments_);
  empty(words_);
}

resp_parser::status resp_parser::fail(std::string text) {
  problem_ = "ERR Protocol error: " + std::move(text);
  return status::error;
}

resp_parser::status resp_parser::parse(std::string_view buffer, const limits& bounds) {
  if (buffer.empty()) return status::incomplete;
  if (bulks_left_ < 0 && buffer[0] != '*') return parse_inline(buffer);
  return parse_array(buffer, bounds);
}

resp_parser::header resp_parser::read_header(std::string_view buffer) {
  const std::size_t end = buffer.find('\r', position_);
  if (end == buffer.npos || end + 1 >= buffer.size()) return {};
  const auto value = store::parse_integer(buffer.substr(position_ + 1, end - position_ - 1));
  position_ = end + 2;
  return {true, value.has_value(), value.value_or(0)};
}

resp_parser::status resp_parser::parse_array(std::string_view buffer, const limits& bounds) {
  if (bulks_left_ < 0) {
    const header count = read_header(buffer);
    if (!count.whole) {
      return buffer.size() > kLongestLine ? fail("too big mbulk count string") : status::incomplete;
    }
    if (!count.valid || count.value > INT_MAX) return fail("invalid multibulk length");
    if (!bounds.authenticated && count.value > kStrangersBulks) {
      return fail("unauthenticated multibulk length");
    }
    bulks_left_ = count.value < 0 ? 0 : count.value;
    offsets_.clear();
    offsets_.reserve(static_cast<std::size_t>(std::min(bulks_left_, kRoomAtOnce)));
  }
  while (bulks_left_ > 0) {
    if (bulk_length_ < 0) {
      if (position_ >= buffer.size()) return status::incomplete;
      const std::size_t line = position_;
      const header length = read_header(buffer);
      if (!length.whole) {
        return buffer.size() - line > kLongestLine ? fail("too big bulk count string")
                                                   : status::incomplete;
      }
      if (buffer[line] != '$') {
        return fail(std::string("expected '$', got '") + buffer[line] + "'");
      }
      if (!length.valid || length.value < 0 ||
          static_cast<std::uint64_t>(length.value) > bounds.longest_bulk) {
        return fail("invalid bulk length");
      }
      if (!bounds.authenticated && length.value > kStrangersBulkLength) {
        return fail("unauthenticated bulk length");
      }
      bulk_length_ = length.value;
    }
    if (buffer.size() < wanted()) return status::incomplete;
    offsets_.emplace_back(position_, bulk_length_);
    position_ = wanted();
    bulk_length_ = -1;
    --bulks_left_;
  }
  return finish(buffer);
}

resp_parser::status resp_parser::finish(std::string_view buffer) {
  arguments_.clear();
  arguments_.reserve(offsets_.size());
  for (const auto& [offset, length] : offsets_) {
    arguments_.push_back(buffer.substr(offset, length));
  }
  consumed_ = position_;
  position_ = 0;
  bulks_left_ = -1;
  return status::command;
}

resp_parser::status resp_parser::parse_inline(std::string_view buffer) {
  const std::size_t end = buffer.find('\n', position_);
  if (end == buffer.npos) {
    if (buffer.size() > kLongestLine) return fail("too big inline request");
    position_ = buffer.size();  // searched so far; the next call goes on from here
    return status::incomplete;
  }
  std::string_view line = buffer.substr(0, end);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (!split_words(line, words_)) return fail("unbalanced quotes in request");
  arguments_.assign(words_.begin(), words_.end());
  consumed_ = end + 1;
  position_ = 0;
  return status::command;
}

}  // namespace isotherm::server
