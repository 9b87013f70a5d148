// The columns of a text format, and one of its lines as requests.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lab/traces/request.hpp"

namespace isotherm::traces {

/// The meaning of a field of a line.
enum class column : std::uint8_t {
  skipped,
  time,        ///< in the format's unit, decimals allowed
  key,         ///< any bytes but the separator
  key_size,    ///< bytes
  value_size,  ///< bytes
  operation,
  repeats,  ///< the line stands for so many equal requests
  ttl,      ///< seconds
  records,  ///< that a seek reads
  first,    ///< number of the first of consecutive keys
  blocks,   ///< how many of them
  device,   ///< the keys are the device and the number of a block of kBlockBytes there
  offset,   ///< bytes
  length    ///< bytes
};

/// Bytes of a key's block in traces that tell devices, offsets and lengths.
inline constexpr std::uint32_t kBlockBytes = 4096;

/// The layout of a line.
struct layout {
  std::vector<column> columns;
  char separator = ',';             ///< ' ': any number of blanks
  double time_unit_us = 1'000'000;  ///< of a number in the column `time`
  bool is_exact = false;            ///< a line has as many fields as columns, not more

  bool has(column wanted) const noexcept;
};

/// Parses "time,key,-,op": words of --columns ("-" skips a field), or of a header line, whose
/// unknown words skip. `key` or another column that makes keys is needed.
base::result<std::vector<column>> parse_columns(std::string_view words);
std::optional<std::vector<column>> parse_header(std::string_view line);

/// A line, understood. The requests are `first`, `repeats` times; with `keys` > 1 or a prefix, one
/// request a key: the prefix and a number from `number` on.
struct row {
  request first;
  std::uint64_t repeats = 1;
  std::string_view prefix;  ///< of the numbered keys: the device, and ':'
  std::uint64_t number = 0;
  std::uint64_t keys = 0;  ///< numbered ones; 0: first.key is the key
};

/// Parses a line without its line feed. Errors say in a few words what is wrong with it; the views
/// lie in `line`.
base::result<row> parse_row(std::string_view line, const layout& expected);

}  // namespace isotherm::traces
