// The record that the index stores for a key: a small header and then the value's bytes, so that
// the time at which a key expires is moved, replaced and destroyed together with its value.
//
//   [flags 1][expiry 8, only with kExpires][payload]
//   [flags 1][unused 3][length 4][expiry 8, only with kExpires][payload][room]      with kGrows
//
// The second form is that of a value that was appended to: the next append goes into the room
// behind it, in place. Only the holder of the key's stripe writes there, inside the scope in which
// the index returned the record. Readers take no lock: they load the length, which is stored after
// the bytes that it counts, and read nothing behind those bytes; bytes once counted never change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "index/content.hpp"

namespace isotherm::store {

/// Most bytes of a key or a value that an index can hold: lengths have 32 bits and include headers.
inline constexpr std::uint64_t kLongestValue = (std::uint64_t{4} << 30) - (std::uint64_t{1} << 20);

/// "Does not expire"; other times are milliseconds since 1970.
inline constexpr std::int64_t kNever = -1;

/// The answers of OBJECT ENCODING. `by_value` derives it from the bytes, as Redis does on SET.
enum class encoding : std::uint8_t { by_value = 0, embedded = 1, raw = 2 };

/// A decoded value; `payload` lives as long as the bytes that it was decoded from.
struct record {
  std::string_view payload = {};
  std::int64_t expires_ms = kNever;
  encoding how = encoding::by_value;
  std::uint32_t room = 0;  ///< bytes behind the payload for records::append_in_place()

  /// Redis' rule: a key lives through the millisecond in which it expires.
  bool is_expired(std::int64_t now_ms) const noexcept {
    return expires_ms != kNever && now_ms > expires_ms;
  }
};

namespace records {

inline constexpr std::uint8_t kExpires = 1, kGrows = 8;
inline constexpr unsigned kEncodingShift = 1;
inline constexpr std::size_t kLengthAt = 4, kGrowingHeader = 8;  // in the form with kGrows

/// Bytes that an index holds for a payload of `size` with `room` behind it.
constexpr std::size_t stored_bytes(std::size_t size, std::int64_t expires_ms,
                                   std::size_t room) noexcept {
  return (room > 0 ? kGrowingHeader : 1) + (expires_ms != kNever ? sizeof expires_ms : 0) + size +
         room;
}

/// Room for a value that has come to `size` bytes by appending: as much again, at most a megabyte
/// (Redis' own rule), so that a value built from small pieces is copied a few times, not each time.
constexpr std::uint32_t room_for(std::size_t size) noexcept {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  return static_cast<std::uint32_t>(
      std::min({size, kMost, static_cast<std::size_t>(kLongestValue) - size}));
}

/// Decodes what `encoded` has written. `stored` must begin on a boundary of four bytes.
inline record decode(std::string_view stored) noexcept {
  const auto flags = static_cast<std::uint8_t>(stored[0]);
  record result;
  result.how = static_cast<encoding>(flags >> kEncodingShift & 3);
  std::size_t header = flags & kGrows ? kGrowingHeader : 1;
  if (flags & kExpires) [[unlikely]] {
    std::memcpy(&result.expires_ms, stored.data() + header, sizeof result.expires_ms);
    header += sizeof result.expires_ms;
  }
  result.payload = stored.substr(header);
  if (flags & kGrows) [[unlikely]] {
    // Acquire: pairs with the release in append_in_place(), so that the bytes counted are visible.
    const std::uint32_t length = __atomic_load_n(
        reinterpret_cast<const std::uint32_t*>(stored.data() + kLengthAt), __ATOMIC_ACQUIRE);
    result.room = static_cast<std::uint32_t>(result.payload.size()) - length;
    result.payload = result.payload.substr(0, length);
  }
  return result;
}

/// Writes `zeros` zero bytes and then `tail`, together at most grown.room, behind the payload of
/// `grown`. Only under the key's stripe, in the scope in which the index returned the record.
void append_in_place(const record& grown, std::size_t zeros, std::string_view tail) noexcept;

/// A record to be written into the index: `payload`, and all of `value` but its payload. A record
/// with room (value.room) can grow. Both arguments must outlive it.
class encoded {
 public:
  encoded(const record& value, const index::content& payload) noexcept
      : value_(value), payload_(payload) {}

  std::size_t size() const noexcept {
    return stored_bytes(payload_.size(), value_.expires_ms, value_.room);
  }
  /// Writes the record, except the bytes of its room.
  void operator()(char* to) const noexcept;

 private:
  const record& value_;
  const index::content& payload_;
};

}  // namespace records
}  // namespace isotherm::store
