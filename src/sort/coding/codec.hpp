// Runs of an index map in fewer bytes (dissertation 7.2.2). Neighbours in a sorted run have close
// keys, and pointers need no more bits than the input has records: a block of entries holds the
// differences of its keys, and its pointers over the smallest of them, in as many bits as its
// largest ones need. Random keys lose what sorting them has told, log2 of the run's length, and
// sequential or repeated ones nearly everything.
//
// A block stands alone: a header with the first key, the bit widths and a checksum, then the
// entries, bit-packed. It is as long as its header says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sort/input/entry.hpp"

namespace isotherm::sort {

inline constexpr std::size_t kBlockEntries = 512;
inline constexpr std::size_t kBlockHeaderBytes = 40;
inline constexpr std::size_t kBlockSlack = 16;  ///< coding touches so many bytes behind a block
/// The longest block there can be.
inline constexpr std::size_t kLargestBlock = kBlockHeaderBytes + kBlockEntries * sizeof(entry);

/// Bits that each entry of a block takes, and what they are counted from.
struct block_shape {
  unsigned key_bits = 0;     ///< of the difference from the key before it
  unsigned place_bits = 0;   ///< of the record's number or offset
  unsigned length_bits = 0;  ///< of the length of a klv record or line
  std::uint64_t least_place = 0;
  std::uint64_t least_length = 0;

  constexpr unsigned entry_bits() const noexcept { return key_bits + place_bits + length_bits; }
  constexpr std::size_t bytes(std::size_t entries) const noexcept {
    return kBlockHeaderBytes + (entries * entry_bits() + 7) / 8;
  }
};
/// The shape of a block of these entries, whose keys must ascend.
block_shape shape_of(const entry_layout& l, std::span<const entry> sorted) noexcept;

/// Writes up to kBlockEntries entries at `target`, which has room for kLargestBlock and slack;
/// returns the block's length.
std::size_t encode_block(const entry_layout& l, std::span<const entry> sorted,
                         std::byte* target) noexcept;

/// Length of the block whose header these are; nothing if no block has such a header.
std::optional<std::size_t> block_length(
    const entry_layout& l, std::span<const std::byte, kBlockHeaderBytes> head) noexcept;

/// Reads the block of `bytes` (with slack behind them) into `target`, which has room for
/// kBlockEntries; returns how many there are. 0: the block is not what was written.
std::size_t decode_block(const entry_layout& l, std::span<const std::byte> bytes,
                         entry* target) noexcept;

}  // namespace isotherm::sort
