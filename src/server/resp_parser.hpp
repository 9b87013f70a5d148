// Incremental parser of client requests: RESP arrays of bulk strings, and inline commands.
//
// It owns no buffer and does no I/O. The caller passes all unconsumed bytes with each call; the
// parser remembers how far it got, so that a value that arrives in many pieces is scanned only
// once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isotherm::server {

/// One per connection; not thread-safe.
class resp_parser {
 public:
  enum class status : std::uint8_t {
    incomplete,  ///< needs more bytes
    command,     ///< see arguments() and consumed(); without arguments there is nothing to run
    error        ///< see problem(); the connection cannot be used any more
  };

  struct limits {
    std::uint64_t longest_bulk = std::uint64_t{512} << 20;
    bool authenticated = true;  ///< others may send only short commands
  };

  /// `buffer` begins with the first byte of the command that is being parsed.
  status parse(std::string_view buffer, const limits& bounds);

  /// Views into the buffer last passed (or, for quoted inline words, into the parser).
  std::span<const std::string_view> arguments() const noexcept { return arguments_; }
  /// Bytes of the command just returned; drop them from the buffer before the next call.
  std::size_t consumed() const noexcept { return consumed_; }
  /// Memory of the argument lists, in bytes: many short arguments take more than their text.
  std::size_t held_bytes() const noexcept;
  /// Between two commands: drops arguments(), and frees the memory of a long list of them.
  void release() noexcept;
  /// The whole error reply except its '-' ("ERR Protocol error: ...").
  std::string_view problem() const noexcept { return problem_; }
  /// Bytes of buffer that the argument in progress needs in all; 0 when unknown.
  std::size_t wanted() const noexcept {
    return bulk_length_ < 0 ? 0 : position_ + static_cast<std::size_t>(bulk_length_) + 2;
  }

 private:
  status parse_array(std::string_view buffer, const limits& bounds);
  status parse_inline(std::string_view buffer);
  status finish(std::string_view buffer);
  status fail(std::string text);
  /// The number behind the first byte of the line at position_. Not whole: more bytes are needed.
  /// Not valid: it is no number.
  struct header {
    bool whole = false;
    bool valid = false;
    std::int64_t value = 0;
  };
  header read_header(std::string_view buffer);

  std::size_t position_ = 0;
  std::size_t consumed_ = 0;
  std::int64_t bulks_left_ = -1;   // -1: before an array's header
  std::int64_t bulk_length_ = -1;  // -1: before a bulk's header
  std::vector<std::pair<std::size_t, std::size_t>> offsets_;
  std::vector<std::string_view> arguments_;
  std::vector<std::string> words_;
  std::string problem_;
};

/// Splits an inline command as redis-cli quotes it; false on unbalanced quotes.
bool split_words(std::string_view line, std::vector<std::string>& words);

}  // namespace isotherm::server
