// The order of a border node's slots in one word (Masstree, 4.6.2), so that an insert or a removal
// becomes visible by one store.
//
//   bits 0..3    number of live entries
//   bits 4..63   fifteen slot numbers of four bits: the live ones in key order, then the free ones
//
// Every slot number occurs once. The first of the free slots is taken next, and one that becomes
// free goes to the end, so that slots that no reader has seen are used before slots that readers
// may still look at. A node with fewer slots uses only the lowest numbers, in the first places.
#pragma once

#include <bit>
#include <cstdint>

namespace isotherm::index::masstree_detail {

inline constexpr unsigned kSlots = 15;

/// A value; the node keeps its word in an atomic.
class permutation {
 public:
  /// No live entry, slots free in ascending order; or the first `count` slots live in that order.
  constexpr explicit permutation(unsigned count = 0) noexcept : word_(kIdentity | count) {}
  static constexpr permutation from_word(std::uint64_t word) noexcept {
    permutation p;
    p.word_ = word;
    return p;
  }
  constexpr std::uint64_t word() const noexcept { return word_; }

  constexpr unsigned count() const noexcept { return static_cast<unsigned>(word_ & 15); }
  /// Slot at a place (0 .. 14); places from count() on name free slots.
  constexpr unsigned operator[](unsigned place) const noexcept {
    return static_cast<unsigned>(word_ >> shift_of(place)) & 15;
  }
  /// True when `slot` is live.
  constexpr bool holds(unsigned slot) const noexcept { return place_of(slot) < count(); }

  /// The permutation with the first free slot put at `place` (0 .. count()), before what was there.
  /// Not for a full one.
  constexpr permutation inserted(unsigned place) const noexcept {
    const std::uint64_t slot = (*this)[count()];
    return from_word(moved(count(), place, slot) + 1);
  }
  /// The permutation without the entry at `place` (< count()); its slot becomes the last free one
  /// of `capacity`.
  constexpr permutation removed(unsigned place, unsigned capacity) const noexcept {
    const std::uint64_t slot = (*this)[place];
    return from_word(moved(place, capacity - 1, slot) - 1);
  }
  /// The permutation with only the first `count` entries live.
  constexpr permutation truncated(unsigned count) const noexcept {
    return from_word((word_ & ~std::uint64_t{15}) | count);
  }

  /// True when every slot occurs once.
  constexpr bool is_valid() const noexcept {
    unsigned seen = 0;
    for (unsigned place = 0; place < kSlots; ++place) seen |= 1u << (*this)[place];
    return seen == (1u << kSlots) - 1;
  }
  friend constexpr bool operator==(permutation, permutation) noexcept = default;

 private:
  static constexpr std::uint64_t kIdentity = 0xedcba98765432100u;

  static constexpr unsigned shift_of(unsigned place) noexcept { return 4 + 4 * place; }
  /// Bits below `place`, the count included.
  static constexpr std::uint64_t below(unsigned place) noexcept {
    return (std::uint64_t{1} << shift_of(place)) - 1;
  }
  constexpr unsigned place_of(unsigned slot) const noexcept {
    // The nibble that equals `slot` becomes zero; of the bits found the lowest is exact.
    constexpr std::uint64_t kOnes = 0x1111111111111110u, kTops = 0x8888888888888880u;
    const std::uint64_t zeros = (word_ & ~std::uint64_t{15}) ^ (kOnes * slot);
    const std::uint64_t hit = (zeros - kOnes) & ~zeros & kTops;
    return static_cast<unsigned>(std::countr_zero(hit)) / 4 - 1;
  }
  /// The word after the slot at place `from`, which is `slot`, has gone to place `to`; the slots in
  /// between close the gap.
  constexpr std::uint64_t moved(unsigned from, unsigned to, std::uint64_t slot) const noexcept {
    const bool is_down = to < from;
    const unsigned low = is_down ? to : from, high = is_down ? from : to;
    const std::uint64_t touched = ((below(high) << 4) | 15) & ~below(low);  // places low .. high
    const std::uint64_t between = word_ & touched;
    const std::uint64_t shifted = is_down ? between << 4 : between >> 4;
    return (word_ & ~touched) | (shifted & touched & ~(std::uint64_t{15} << shift_of(to))) |
           (slot << shift_of(to));
  }

  std::uint64_t word_;
};
static_assert(permutation().is_valid() && permutation(kSlots).is_valid());

}  // namespace isotherm::index::masstree_detail
