// A checksum of records that does not depend on their order.
#pragma once

#include <cstddef>
#include <span>

namespace isotherm::sort {

using uint128 = unsigned __int128;

/// Sum over records of zlib's crc32 of each: equal for two files that hold the same records in any
/// order, up to collisions.
uint128 record_checksum(std::span<const std::byte> records, std::size_t record_bytes) noexcept;

}  // namespace isotherm::sort
