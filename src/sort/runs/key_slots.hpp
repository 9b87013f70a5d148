// Comparing keys that the index map's first bytes do not tell apart, for merges, which compare each
// key with several others. A slot keeps how many leading bytes a key shares with a reference key,
// and the bytes behind those. If two keys share different numbers of bytes with the reference, that
// alone tells their order (offset-value codes: Conner, IBM Technical Disclosure Bulletin 20(7),
// 1977), so that a long beginning common to all keys is never compared again. Each record is read
// once, many of them at a time by several threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// What is kept of one key.
struct key_slot {
  std::uint16_t common = 0;  ///< leading bytes that equal the reference's
  std::uint8_t bytes = 0;    ///< in `next`: the key's bytes behind these
  bool whole = true;         ///< whether the key ends there
  bool below = false;        ///< whether the key goes before the reference
  std::byte next[59] = {};
};
static_assert(sizeof(key_slot) == 64);

/// Loads and compares slots. Only for the thread that leads the sort.
class key_slots {
 public:
  /// The arguments must outlive it. Reads are counted for `stage`.
  key_slots(const context& ctx, sort_stage stage);

  /// Slots of an entry: one for its key and, if whole lines break ties of fields, one for its line.
  std::size_t per_entry() const noexcept { return ctx_.layout.ties_by_line() ? 2 : 1; }
  /// Makes the key of `e` the reference. Slots loaded before become invalid.
  void refer_to(entry e);
  /// Changes whenever the slots loaded before become invalid.
  unsigned generation() const noexcept { return generation_; }
  /// Whether to take another reference: many comparisons could not be decided by slots.
  bool stale() const noexcept { return missed_ >= kMostMissed; }
  /// Fills per_entry() slots for each entry that is layout.undecided().
  void load(std::span<const entry> entries, std::span<key_slot> slots);
  /// Order of two entries that are layout.undecided() and have equal key bytes.
  int compare(entry a, const key_slot* of_a, entry b, const key_slot* of_b);
  /// Whether the keys of two such entries are equal.
  bool same_key(entry a, const key_slot& of_a, entry b, const key_slot& of_b) {
    return order(a, of_a, b, of_b, compared::key) == 0;
  }

 private:
  static constexpr unsigned kMostMissed = 1024;
  key_slot slot_of(entry e, compared by, source_view& view) const;
  int order(entry a, const key_slot& of_a, entry b, const key_slot& of_b, compared by);

  const context ctx_;
  const sort_stage stage_;
  source_view view_;  // for bytes that slots do not hold
  std::vector<std::byte> references_[2];
  unsigned generation_ = 0;
  unsigned missed_ = 0;  // comparisons since refer_to() that slots did not decide
};

/// Finds the sorted entries that have the same key as the entry before.
class equal_keys {
 public:
  equal_keys(const context& ctx, sort_stage stage) : layout_(ctx.layout), keys_(ctx, stage) {}

  static constexpr std::size_t kMost = 1024;
  /// Tells for each of up to kMost entries whether its key equals its predecessor's; the first
  /// one's predecessor is the last entry of the previous call. Valid until the next call.
  const std::vector<bool>& find(std::span<const entry> sorted);

 private:
  const record_layout& layout_;
  key_slots keys_;
  std::vector<bool> same_;
  std::vector<entry> wanted_;           // entries whose slots are needed
  std::vector<std::size_t> undecided_;  // places in `sorted` of the entries that slots decide ...
  std::vector<std::size_t> slot_of_;    // ... and for each its place in `wanted_`, behind its
                                        // predecessor
  std::vector<key_slot> slots_;
  entry last_ = 0;
  bool any_ = false;
};

}  // namespace isotherm::sort
