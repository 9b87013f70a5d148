// Answers in RESP2 or RESP3 (the Redis serialization protocol), appended to a connection's output.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace isotherm::store {

/// Appends replies to `output`. The calls of one command form one reply: an aggregate's header is
/// followed by as many replies as it announced. Not thread-safe.
class reply {
 public:
  /// `output` must outlive the writer.
  explicit reply(std::string& output) noexcept : output_(output) {}

  int protocol() const noexcept { return protocol_; }
  void set_protocol(int version) noexcept { protocol_ = version; }  ///< 2 or 3
  /// An element of a reply that would make the output longer than `bytes` is dropped. overflowed()
  /// is true then, and the output must not be sent.
  void set_limit(std::size_t bytes) noexcept { limit_ = bytes; }
  bool overflowed() const noexcept { return overflowed_; }
  /// Returns overflowed() and clears it: the caller has taken back what was appended.
  bool take_overflowed() noexcept { return std::exchange(overflowed_, false); }
  std::size_t size() const noexcept { return output_.size(); }

  void ok() { raw("+OK\r\n"); }
  void status(std::string_view text) { line('+', text); }
  /// `text` begins with its code ("ERR ..."). Line breaks in it become spaces.
  void error(std::string_view text);
  void integer(std::int64_t value) { number(':', value); }
  void bulk(std::string_view content) {
    if (output_.size() + content.size() + 32 > limit_) [[unlikely]] {
      overflowed_ = true;
      return;
    }
    number('$', static_cast<std::int64_t>(content.size()));
    output_.append(content);
    output_.append("\r\n", 2);
  }
  void bulk_integer(std::int64_t value);
  void null() { raw(protocol_ == 3 ? "_\r\n" : "$-1\r\n"); }
  void boolean(bool value) {
    if (protocol_ == 3)
      raw(value ? "#t\r\n" : "#f\r\n");
    else
      integer(value);
  }
  /// A double; a bulk string in RESP2.
  void real(double value);
  void array(std::size_t count) { number('*', static_cast<std::int64_t>(count)); }
  /// Writes an array of statuses, the answer of HELP.
  void statuses(std::span<const std::string_view> lines) {
    array(lines.size());
    for (const std::string_view each : lines) status(each);
  }
  /// `pairs` keys, each followed by its value; a flat array in RESP2.
  void map(std::size_t pairs) {
    if (protocol_ == 3)
      number('%', static_cast<std::int64_t>(pairs));
    else
      array(pairs * 2);
  }
  void set(std::size_t count) {
    number(protocol_ == 3 ? '~' : '*', static_cast<std::int64_t>(count));
  }
  /// Text for a person; `format` has three letters ("txt"). A bulk string in RESP2.
  void verbatim(std::string_view format, std::string_view content);

 private:
  void raw(std::string_view text) {
    if (output_.size() + text.size() > limit_) [[unlikely]]
      overflowed_ = true;
    else
      output_.append(text);
  }
  void line(char type, std::string_view text);
  void number(char type, std::int64_t value) {
    char buffer[32];
    buffer[0] = type;
    char* end = std::to_chars(buffer + 1, buffer + sizeof buffer - 2, value).ptr;
    *end++ = '\r';
    *end++ = '\n';
    raw({buffer, static_cast<std::size_t>(end - buffer)});
  }

  std::string& output_;
  std::size_t limit_ = std::string::npos / 2;
  int protocol_ = 2;
  bool overflowed_ = false;
};

}  // namespace isotherm::store
