#include "sort/checksum.hpp"

#include <zlib.h>

namespace isotherm::sort {

uint128 record_checksum(std::span<const std::byte> records, std::size_t record_bytes) noexcept {
  uint128 sum = 0;
  for (std::size_t at = 0; at < records.size(); at += record_bytes) {
    sum += ::crc32_z(0, reinterpret_cast<const unsigned char*>(&records[at]), record_bytes);
  }
  return sum;
}

}  // namespace isotherm::sort
