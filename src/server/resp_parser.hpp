// Incremental parser of client requests: RESP arrays of bulk strings, and inline commands.
//
// Pure: it owns no buffer and does no I/O. The caller shows it all unconsumed bytes again and
// again; it remembers how far it got, so that a value of many pieces costs no second look.
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
    incomplete,  ///< show more bytes
    command,     ///< arguments() and consumed() tell; without arguments there is nothing to run
    error        ///< problem() tells; the connection can't be used any more
  };

  struct limits {
    std::uint64_t longest_bulk = std::uint64_t{512} << 20;
    bool authenticated = true;  ///< strangers may send only little
  };

  /// `buffer` begins with the first byte of the command that is being parsed.
  status parse(std::string_view buffer, const limits& bounds);

  /// Views into the buffer last shown (or, for quoted inline words, into the parser).
  std::span<const std::string_view> arguments() const noexcept { return arguments_; }
  /// Bytes of the command just returned; drop them from the buffer before the next call.
  std::size_t consumed() const noexcept { return consumed_; }
  /// Memory of the lists of arguments, in bytes: many short ones take more than their text.
  std::size_t held_bytes() const noexcept;
  /// Between two commands: forgets arguments() and gives back what a long list of them took.
  void release() noexcept;
  /// The whole error reply but for its '-' ("ERR Protocol error: ...").
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
  /// A line from `position_` with the number after its first byte; nullopt inside: not yet whole.
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
