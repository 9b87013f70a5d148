// Compressed runs of an index map (dissertation 7.2.2). Neighbours in a sorted run have close keys,
// and pointers need no more bits than the input has records. A block of entries therefore holds the
// differences of its keys, and the differences of its pointers from the smallest one, in as many
// bits as the largest of them need. Each random key shrinks by about log2 of the run's length, in
// bits; sequential or repeated ones shrink to nearly nothing.
//
// A block is decoded on its own: a header with the first key, the bit widths and a checksum, then
// the entries, bit-packed. The header tells the block's length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sort/input/entry.hpp"

namespace isotherm::sort {

inline constexpr std::size_t kBlockEntries = 512;
inline constexpr std::size_t kBlockHeaderBytes = 40;
inline constexpr std::size_t kBlockSlack = 16;  ///< coding may touch so many bytes behind a block
/// The longest block there can be.
inline constexpr std::size_t kLargestBlock = kBlockHeaderBytes + kBlockEntries * sizeof(entry);

/// Bits that each entry of a block takes, and the least values that they count from.
struct block_shape {
  unsigned key_bits = 0;     ///< of the difference from the previous key
  unsigned place_bits = 0;   ///< of the record's number or offset, less least_place
  unsigned length_bits = 0;  ///< of the length of a klv record or line, less least_length
  std::uint64_t least_place = 0;
  std::uint64_t least_length = 0;

  constexpr unsigned entry_bits() const noexcept { return key_bits + place_bits + length_bits; }
  constexpr std::size_t bytes(std::size_t entries) const noexcept {
    return kBlockHeaderBytes + (entries * entry_bits() + 7) / 8;
  }
};
/// The shape of a block of the entries `sorted`, whose keys must ascend.
block_shape shape_of(const entry_layout& l, std::span<const entry> sorted) noexcept;

/// Writes up to kBlockEntries entries at `target`, which has room for kLargestBlock and slack;
/// returns the block's length.
std::size_t encode_block(const entry_layout& l, std::span<const entry> sorted,
                         std::byte* target) noexcept;

/// Length of the block that begins with `head`; nothing if that is no header of a block.
std::optional<std::size_t> block_length(
    const entry_layout& l, std::span<const std::byte, kBlockHeaderBytes> head) noexcept;

/// Decodes the block `bytes` (with kBlockSlack bytes behind it) into `target`, which has room for
/// kBlockEntries; returns the number of entries. 0: the block is not what was written.
std::size_t decode_block(const entry_layout& l, std::span<const std::byte> bytes,
                         entry* target) noexcept;

}  // namespace isotherm::sort
