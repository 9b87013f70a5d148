// A trace as plain CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/traces/request.hpp"
#include "os/files/pending_file.hpp"
#include "sort/packed/packing.hpp"

namespace isotherm::traces {

/// Writes requests, compressed as the suffix .gz, .zst or .lz4 of the name asks, to a file that
/// appears when it is complete, or to standard output ("-"). Not thread-safe.
class writer {
 public:
  static base::result<writer> create(const std::string& path);

  /// Requires: the key has no comma and no line feed.
  base::result<void> add(const request& next);
  /// Ends the file and gives it its name.
  base::result<void> finish();

 private:
  writer() = default;
  base::result<void> flush();

  std::string path_;
  std::optional<os::pending_file> file_;  ///< absent: standard output
  sort_packing packing_ = sort_packing::none;
  std::string text_ = "time,op,key,key_size,value_size,ttl,records\n";
  std::vector<std::byte> frame_;
  std::uint64_t written_ = 0;  ///< bytes
};

}  // namespace isotherm::traces
