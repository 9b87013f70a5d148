// A source gives requests one after the other: from a file in any of the formats, or drawn.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lab/traces/request.hpp"

namespace isotherm::traces {

/// The lines (records, of a binary format) that could not be read.
struct malformed_lines {
  static constexpr std::size_t kKept = 5;
  struct line {
    std::uint64_t number;  ///< from 1
    std::string reason;    ///< a few words: "it has 3 fields, not 7"
  };
  std::uint64_t count = 0;
  std::vector<line> first;  ///< at most kKept

  void add(std::uint64_t number, std::string reason);
};

/// One reading of a trace. Not thread-safe.
class source {
 public:
  virtual ~source() = default;

  /// Writes the next request to `to`; false at the end. Errors: nothing at all could be read. A
  /// later problem counts as a malformed line, and ends the trace where the file cannot be read.
  virtual base::result<bool> next(request& to) = 0;
  virtual const malformed_lines& malformed() const noexcept = 0;
  /// Name of the format, or of the generator.
  virtual std::string_view format() const noexcept = 0;
  virtual bool has_times() const noexcept = 0;
};

/// How a file is to be read.
struct file_options {
  std::string format = {};   ///< one of format_names(); empty: found by the contents
  std::string columns = {};  ///< of plain CSV without a header; empty: the header tells
};

/// Names that --format knows, in the order of the help.
std::vector<std::string_view> format_names();
/// One line a format for a help text: its name, and its contents.
std::string describe_formats();

/// Opens the trace at `path`, compressed by gzip, zstd, lz4 or xz, or not. Errors name the file and
/// the flag to change.
base::result<std::unique_ptr<source>> open(const std::string& path, const file_options& how);
/// Opens the trace in a stream, which errors call `name`.
base::result<std::unique_ptr<source>> open_stream(std::unique_ptr<std::istream> stream,
                                                  const std::string& name, const file_options& how);

/// The sentence that reports malformed lines, or "" where there are none.
std::string describe(const malformed_lines& found);

}  // namespace isotherm::traces
