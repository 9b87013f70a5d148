// What the index holds for a key: a small header and then the value's own bytes, so that the time
// at which a key expires moves, is replaced and dies together with its value.
//
//   [flags 1 byte][expiry 8 bytes, only with kExpires, milliseconds since 1970][payload]
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace isotherm::store {

/// Bytes of a key or a value that an index can hold: their lengths have 32 bits, some of which are
/// headers'.
inline constexpr std::uint64_t kLongestValue = (std::uint64_t{4} << 30) - (std::uint64_t{1} << 20);

/// "Does not expire".
inline constexpr std::int64_t kNever = -1;

/// What OBJECT ENCODING answers. `by_value` derives it from the bytes, as Redis does on SET.
enum class encoding : std::uint8_t { by_value = 0, embedded = 1, raw = 2 };

/// A decoded value; `payload` lives as long as the bytes that it was decoded from.
struct record {
  std::string_view payload;
  std::int64_t expires_ms = kNever;
  encoding how = encoding::by_value;

  /// Redis' rule: a key lives through the millisecond in which it expires.
  bool is_expired(std::int64_t now_ms) const noexcept {
    return expires_ms != kNever && now_ms > expires_ms;
  }
};

namespace records {

inline constexpr std::uint8_t kExpires = 1;
inline constexpr unsigned kEncodingShift = 1;
inline constexpr std::size_t kLongestHeader = 1 + sizeof(std::int64_t);

/// Inverse of encode().
inline record decode(std::string_view stored) noexcept {
  const auto flags = static_cast<std::uint8_t>(stored[0]);
  record result;
  result.how = static_cast<encoding>(flags >> kEncodingShift & 3);
  std::size_t header = 1;
  if (flags & kExpires) [[unlikely]] {
    std::memcpy(&result.expires_ms, stored.data() + 1, sizeof result.expires_ms);
    header = kLongestHeader;
  }
  result.payload = stored.substr(header);
  return result;
}

/// Writes `value` into `buffer`, replacing what it held. `value.payload` must not lie in `buffer`.
inline void encode(std::string& buffer, const record& value) {
  const bool expires = value.expires_ms != kNever;
  buffer.clear();
  buffer.reserve(kLongestHeader + value.payload.size());
  buffer.push_back(static_cast<char>((expires ? kExpires : 0) | static_cast<std::uint8_t>(value.how)
                                                                    << kEncodingShift));
  if (expires) {
    char time[sizeof value.expires_ms];
    std::memcpy(time, &value.expires_ms, sizeof time);
    buffer.append(time, sizeof time);
  }
  buffer.append(value.payload);
}

}  // namespace records
}  // namespace isotherm::store
