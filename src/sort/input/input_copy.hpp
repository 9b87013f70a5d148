// The inputs of a sort, copied one behind the other, with one header in front.
#pragma once

#include <isotherm/sort.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/files/file.hpp"
#include "sort/keys/fields.hpp"
#include "sort/packed/input_reader.hpp"

namespace isotherm::sort {

/// Returns a file without a name in `directory` with the contents of `f`.
base::result<os::file> file_copy(const os::file& f, const std::string& directory);

/// Whether an end is written behind the last record of an input that lacks it.
enum class last_record : std::uint8_t { as_it_is, ended };

/// A copy in memory while it fits in `room` bytes, then in a file without a name in `directory`.
class input_copy {
 public:
  /// Prepares to copy so many `inputs`. `options` and `directory` must outlive the copy.
  input_copy(const sort_options& options, const std::string& directory, std::uint64_t room,
             std::size_t inputs)
      : options_(options), directory_(directory), room_(room), several_(inputs > 1) {}
  base::result<void> begin();
  /// Appends all that `in` gives, the input called `name`. The first of several inputs that is not
  /// empty gives the header, and the others' headers are left out. An error if records of a fixed
  /// size are cut, a quote is not closed, or a header has other columns than the first.
  base::result<void> append(input_reader& in, const std::string& name, last_record end);

  std::uint64_t bytes() const noexcept { return bytes_; }
  bool in_memory() const noexcept { return room_ > 0; }
  /// Returns the bytes of the header, if several inputs were copied.
  std::optional<std::uint64_t> header_bytes() const noexcept { return header_bytes_; }
  os::file file() && { return std::move(file_); }

 private:
  struct scan;
  base::result<void> copy(input_reader& in, scan& s);
  base::result<void> check(const scan& s, const std::string& name, std::uint64_t begin) const;
  base::result<void> end_record(std::uint64_t begin);
  base::result<void> read_header(const std::string& name);
  base::result<void> write(bytes_view bytes);

  const sort_options& options_;
  const std::string& directory_;
  std::uint64_t room_;  // 0: the copy lies in a file
  const bool several_;
  os::file file_;
  std::uint64_t bytes_ = 0;
  std::optional<std::uint64_t> header_bytes_;
  std::string header_of_;             // name of the input that gave the header
  std::vector<std::string> columns_;  // in it
};

}  // namespace isotherm::sort
