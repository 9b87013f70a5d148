// Compressed inputs and outputs: formats, and how bytes are brought into and out of them.
#pragma once

#include <isotherm/sort.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace isotherm::sort {

/// Bytes of the beginning of a file that packing_of() looks at.
inline constexpr std::size_t kMagicBytes = 4;

/// Returns the format that a file with these first bytes has; `none` if they begin no known one.
sort_packing packing_of(std::span<const std::byte> first) noexcept;
/// Returns the format that the suffix of the name `path` asks for: .gz, .zst, .lz4; else `none`.
sort_packing packing_of_name(const std::string& path) noexcept;

/// Compresses `piece` into `frame`, which it replaces. Frames one behind the other are a file.
base::result<void> pack(sort_packing format, std::span<const std::byte> piece,
                        std::vector<std::byte>& frame);

/// Decompresses one file from its beginning. For one thread.
class unpacker {
 public:
  virtual ~unpacker() = default;
  /// Decompresses the front of `packed` into the front of `target`, neither of which may be empty.
  /// Removes from `packed` the bytes that were used; returns how many bytes were made. An error if
  /// the bytes are damaged.
  virtual base::result<std::size_t> unpack(std::span<const std::byte>& packed,
                                           std::span<std::byte> target) = 0;
  /// Whether the file may end here.
  bool whole() const noexcept { return whole_; }

 protected:
  bool whole_ = true;
};
/// Requires: `format` is neither `none` nor `automatic`. An error if there is no memory.
base::result<std::unique_ptr<unpacker>> make_unpacker(sort_packing format);

}  // namespace isotherm::sort
