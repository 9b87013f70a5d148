// Reads an input from its beginning to its end, decompressed if it is compressed.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "os/files/file.hpp"
#include "sort/packed/packing.hpp"

namespace isotherm::sort {

class input_reader {
 public:
  /// Reads `from`, which must outlive it, from its position on. Reads end soon, with an error of
  /// code EINTR, when a stop is requested.
  input_reader(const os::file& from, std::stop_token stop) : from_(from), stop_(std::move(stop)) {}

  /// Looks at the first bytes; if they are those of a compressed file, decompresses all of it.
  /// To be called before read(), or not at all.
  base::result<void> look();
  /// Reads up to `target.size()` bytes, which must be at least one; none at the end.
  base::result<std::size_t> read(std::span<std::byte> target);

 private:
  base::result<std::size_t> unpack(std::span<std::byte> target);
  base::result<bool> fetch();

  const os::file& from_;
  const std::stop_token stop_;
  std::vector<std::byte> buffer_;       // empty if nothing was looked at
  std::span<const std::byte> fetched_;  // read and not yet used: a part of buffer_
  std::unique_ptr<unpacker> unpacker_;  // null: the input is not compressed
};

}  // namespace isotherm::sort
