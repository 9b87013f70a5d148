// A table of the keys that have come, for --unique and --count where few different ones come many
// times: entries of a key that is in the table need not be sorted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Takes entries of repeated keys out of one run before it is sorted. Keys that come when the table
/// is full stay in the run, and where most of them do the search for repeats ends. Its memory is
/// that of the sorting threads' scratch.
class repeats {
 public:
  /// The context must outlive it.
  explicit repeats(const context& ctx) : ctx_(ctx) {}

  /// Whether keys can be looked up: they have to be in memory, as they stand in their records, and
  /// to be so long that an entry does not hold them.
  bool possible() const noexcept;
  /// Takes out of `entries`, which are in the order of the input, those whose key has come before.
  /// Returns how many are left, in front and in their order; the first of each key always is.
  std::size_t take_out(std::span<entry> entries);
  /// Puts dropped entries (entry_layout::drop) back: behind each of the first `left` entries, in
  /// any order of their keys, as many as were taken out for its key. Fills `entries`.
  void put_back(std::span<entry> entries, std::size_t left);

 private:
  /// Key of a record of the block that is looked at.
  struct key_at {
    const std::byte* first = nullptr;  ///< null: it is not looked up
    std::uint32_t bytes = 0;
    std::uint32_t hash = 0;
  };
  /// Key in the table.
  struct slot {
    const std::byte* first = nullptr;  ///< null: the slot is free
    std::uint64_t bytes = 0;
    std::uint64_t pointer = 0;  ///< of its first record's entry
    std::uint64_t taken = 0;    ///< entries taken out
  };

  unsigned owner_of(std::uint32_t hash) const noexcept;
  std::size_t find_keys(std::span<const entry> block);
  std::size_t drop_repeats(std::span<entry> block);
  std::size_t drop_own(std::span<entry> block, unsigned owner);

  const context ctx_;
  std::vector<key_at> keys_;               // of a block
  std::vector<std::vector<slot>> tables_;  // one for each thread, which owns a share of the hashes
};

}  // namespace isotherm::sort
