// A request of a trace, recorded or generated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace isotherm::traces {

enum class operation : std::uint8_t { get, set, remove, incr, seek };
inline constexpr std::size_t kOperations = 5;
/// Returns the word of a plain trace: "get", "set", "delete", "incr" or "seek".
std::string_view name_of(operation kind) noexcept;
/// Parses the words of the formats, in either case: memcached's (gets, add, cas ...), CacheLib's
/// (GET_LEASE ...), RocksDB's (put, seek), R and W, and SCSI's codes 28, 88, 2a and 8a.
std::optional<operation> parse_operation(std::string_view word) noexcept;

/// The most bytes of a key or a value, as in Redis.
inline constexpr std::uint32_t kMostValueBytes = std::uint32_t{512} << 20;

/// One request. Zero stands for a number that the trace does not tell.
struct request {
  std::uint64_t time_us = 0;  ///< microseconds since the moment from which the trace counts
  operation kind = operation::get;
  std::string_view key;          ///< never empty; valid until the source's next request
  std::uint32_t key_size = 0;    ///< bytes of the key in the recorded store
  std::uint32_t value_size = 0;  ///< bytes
  std::uint32_t ttl_s = 0;       ///< seconds from the request until the value expires; 0: never
  std::uint32_t records = 1;     ///< that a seek reads
};

}  // namespace isotherm::traces
