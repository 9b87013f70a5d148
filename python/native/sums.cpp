#include "sums.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "sort/input/records.hpp"
#include "sort/keys/record_ends.hpp"

namespace isotherm::python {
namespace {

using bytes_view = std::span<const std::byte>;

/// Returns the bytes of the klv record in front of `bytes`; 0 if it ends behind them.
std::size_t klv_bytes(bytes_view bytes, const sort_options& o) {
  const std::size_t front = o.key_bytes + sizeof(std::uint32_t);
  if (bytes.size() < front) return 0;
  const std::size_t all = front + sort::klv_length(&bytes[o.key_bytes]);
  return all <= bytes.size() ? all : 0;
}

sort::uint128 line_checksum(bytes_view line, char line_end) {
  if (line.back() == std::byte(line_end)) return sort::record_checksum(line, line.size());
  std::vector<std::byte> whole(line.begin(), line.end());
  whole.push_back(std::byte(line_end));
  return sort::record_checksum(whole, whole.size());
}

record_sum sum_lines(bytes_view bytes, const sort_options& o) {
  record_sum sum;
  sort::record_ends ends(o);
  for (std::uint64_t number = 0; !bytes.empty() && !o.stop.stop_requested(); ++number) {
    const std::size_t end = ends.find(bytes);
    const bytes_view line = bytes.first(end == 0 ? bytes.size() : end);
    bytes = bytes.subspan(line.size());
    if (number < o.header_lines) continue;
    ++sum.records;
    sum.checksum += line_checksum(line, o.line_end);
  }
  return sum;
}

}  // namespace

base::result<record_sum> sum_records(bytes_view bytes, const sort_options& o) {
  if (o.format == record_format::lines) return sum_lines(bytes, o);
  record_sum sum;
  while (!bytes.empty() && !o.stop.stop_requested()) {
    const std::size_t record =
        o.format == record_format::klv ? klv_bytes(bytes, o) : o.record_bytes;
    if (record == 0 || record > bytes.size()) {
      return std::unexpected(base::error{"the last record is not complete", 0});
    }
    ++sum.records;
    sum.checksum += sort::record_checksum(bytes.first(record), record);
    bytes = bytes.subspan(record);
  }
  return sum;
}

}  // namespace isotherm::python
