// Keys that the index map's first bytes cannot tell apart, for who compares each with several
// others, as merges do. Of each key is kept how far it agrees with a reference key, and the bytes
// behind that: of two keys that agree with it differently far this alone tells the order
// (offset-value codes: Conner, IBM Technical Disclosure Bulletin 20(7), 1977), so that a long
// beginning that all share is never compared again. Each record is read once, many of them by
// several threads at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// What is kept of one key.
struct key_slot {
  std::uint16_t common = 0;  ///< leading bytes that are the reference's
  std::uint8_t bytes = 0;    ///< of `next`
  bool whole = true;         ///< the key ends with them
  bool below = false;        ///< the key goes before the reference
  std::byte next[59] = {};
};
static_assert(sizeof(key_slot) == 64);

/// Loads and compares slots. One thread calls it, the one that leads the sort.
class key_slots {
 public:
  /// All that is passed must outlive it. What is read is counted as `stage`'s.
  key_slots(const context& ctx, sort_stage stage);

  /// Slots that an entry has: of its key and, if whole lines break ties of fields, of its line.
  std::size_t per_entry() const noexcept { return ctx_.layout.ties_by_line() ? 2 : 1; }
  /// Takes the key of `e` as the reference. Slots loaded before are void.
  void refer_to(entry e);
  /// Changes whenever slots loaded before are void.
  unsigned generation() const noexcept { return generation_; }
  /// Whether the reference serves badly: most keys agree with each other further than with it.
  bool stale() const noexcept { return missed_ >= kMostMissed; }
  /// Fills per_entry() slots for each entry that layout.undecided() names.
  void load(std::span<const entry> entries, std::span<key_slot> slots);
  /// Order of two entries whose parts of the key in the index map are equal and do not tell.
  int compare(entry a, const key_slot* of_a, entry b, const key_slot* of_b);
  /// Whether such entries' keys are equal.
  bool same_key(entry a, const key_slot& of_a, entry b, const key_slot& of_b) {
    return order(a, of_a, b, of_b, compared::key) == 0;
  }

 private:
  static constexpr unsigned kMostMissed = 1024;
  key_slot slot_of(entry e, compared by, source_view& view) const;
  int order(entry a, const key_slot& of_a, entry b, const key_slot& of_b, compared by);

  const context ctx_;
  const sort_stage stage_;
  source_view view_;  // for what slots do not tell
  std::vector<std::byte> references_[2];
  unsigned generation_ = 0;
  unsigned missed_ = 0;  // comparisons since the reference was taken that slots did not decide
};

/// Tells of sorted entries which have the key of the one before.
class equal_keys {
 public:
  equal_keys(const context& ctx, sort_stage stage) : layout_(ctx.layout), keys_(ctx, stage) {}

  static constexpr std::size_t kMost = 1024;
  /// For each of up to kMost entries whether its key is that of its predecessor, which for the
  /// first is the last one of the call before. Valid until the next call.
  const std::vector<bool>& find(std::span<const entry> sorted);

 private:
  const record_layout& layout_;
  key_slots keys_;
  std::vector<bool> same_;
  std::vector<entry> wanted_;           // whose slots are needed
  std::vector<std::size_t> undecided_;  // places in `sorted`, of each second of which ...
  std::vector<std::size_t> slot_of_;    // ... this is the place in `wanted_`
  std::vector<key_slot> slots_;
  entry last_ = 0;
  bool any_ = false;
};

}  // namespace isotherm::sort
