// The bytes of a trace, a buffer at a time, with a look at the beginning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lab/traces/byte_stream.hpp"

namespace isotherm::traces {

/// Longest line; longer ones are malformed.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;

struct text_line {
  std::string_view text;     ///< without its line feed and a carriage return before it
  bool is_too_long = false;  ///< and left out
};

/// Reads lines and records. For one thread.
class buffered_bytes {
 public:
  explicit buffered_bytes(byte_stream bytes) : bytes_(std::move(bytes)) {}

  /// The first bytes, up to 64 KiB, which stay to be read.
  base::result<std::string_view> beginning();

  /// Reads the next line, valid until the next call; nullopt at the end.
  base::result<std::optional<text_line>> line();
  /// Reads `bytes` bytes, valid until the next call; fewer only at the end.
  base::result<std::string_view> record(std::size_t bytes);

 private:
  /// Reads more behind what is there; false at the end.
  base::result<bool> more();

  byte_stream bytes_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< of what is read and not used, in buffer_
};

}  // namespace isotherm::traces
