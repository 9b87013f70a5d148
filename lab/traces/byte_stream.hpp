// The bytes of a trace, decompressed where they begin as gzip, zstd, lz4 or xz do.
#pragma once

#include <cstddef>
#include <istream>
#include <memory>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "sort/packed/packing.hpp"

namespace isotherm::traces {

/// Reads a stream from its beginning. For one thread.
class byte_stream {
 public:
  explicit byte_stream(std::unique_ptr<std::istream> packed);

  /// Reads up to `to.size()` bytes, at least one; 0 at the end. Errors: the stream cannot be read,
  /// its compressed data are damaged or end too early.
  base::result<std::size_t> read(std::span<char> to);

 private:
  base::result<void> fill();
  base::result<void> find_packing();

  std::unique_ptr<std::istream> file_;
  std::unique_ptr<sort::unpacker> unpacker_;  // null: not compressed
  std::vector<std::byte> buffer_;
  std::span<const std::byte> packed_;  // read and not used yet
  bool is_open_ = false;               // find_packing() was called
};

}  // namespace isotherm::traces
