// Lines of the traces that other tools write.
#pragma once

#include <cstdint>
#include <string_view>

namespace isotherm::pages {

/// The tools whose output can be read.
enum class trace_format : unsigned char {
  lackey,     ///< valgrind --tool=lackey --trace-mem=yes
  drmemtrace  ///< drrun -t drmemtrace -tool view (DynamoRIO)
};

enum class line_meaning : unsigned char {
  access,  ///< a load, a store, or both
  fetch,   ///< of an instruction
  other,   ///< a heading, a marker, a prefetch, an empty line
  malformed
};

struct trace_line {
  line_meaning meaning = line_meaning::malformed;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  ///< 1 .. kMostAccessBytes
};

/// A longer access is a mistake of the trace: xsave, the longest one, has some 11 KiB.
inline constexpr std::uint64_t kMostAccessBytes = 64 << 10;

/// Reads a line without its end.
trace_line parse(trace_format format, std::string_view line) noexcept;

}  // namespace isotherm::pages
