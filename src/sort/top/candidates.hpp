// The first records of the order among those offered so far, in a bounded memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "os/memory/buffer.hpp"
#include "sort/input/records.hpp"
#include "sort/plan/plan.hpp"

namespace isotherm::sort {

/// A record in memory.
struct candidate {
  entry place = 0;  ///< its entry in an index map
  const std::byte* first = nullptr;
  const std::byte* key_first = nullptr;  ///< in the record, or made of it (key_order)
  std::uint32_t bytes = 0;               ///< of the record, a line's end included
  std::uint32_t key_bytes = 0;
  std::uint64_t count = 1;  ///< how many records have its key, where keys come once

  std::span<const std::byte> key() const noexcept { return {key_first, key_bytes}; }
  bool is_key_made() const noexcept { return key_first < first || key_first >= first + bytes; }
  /// Bytes of memory that it takes: a key that was made lies behind its record.
  std::uint64_t room() const noexcept { return bytes + (is_key_made() ? key_bytes : 0); }
};

/// The order of two candidates' keys: negative, 0 or positive.
int compare_keys(const record_layout& layout, const candidate& a, const candidate& b) noexcept;
/// Whether `a` comes before `b` in the order, in which no two records are the same.
bool comes_before(const record_layout& layout, const candidate& a, const candidate& b) noexcept;

/// Copies of the first `top` records, and of some more: whenever their number has doubled, the last
/// half goes, and from then on its first is the one that others must come before. Owned by one
/// thread. Under --unique and --count records with equal keys are one candidate, found by a hash
/// table.
class candidates {
 public:
  /// `room_bytes` must be at least kCandidateBytes for each of selection_candidates().
  candidates(const record_layout& layout, const sort_options& options, std::uint64_t room_bytes);
  /// Allocates the memory.
  base::result<void> reserve();

  /// Copies `c` if it may be one of the first. Records with equal keys must be offered in the order
  /// of the input.
  void offer(const candidate& c) {
    if (layout_.entries().key(c.place) <= last_key_) consider(c);
  }
  /// Whether the records had no room; later offers are in vain.
  bool overflowed() const noexcept { return overflowed_; }
  /// Puts the first `top` into their order, and returns them.
  std::span<const candidate> sorted();

 private:
  void consider(const candidate& c);
  void keep(const candidate& c);
  void shrink();
  bool has_room(const candidate& c) const noexcept;
  std::uint32_t* slot_of(const candidate& c) noexcept;

  const record_layout& layout_;
  const std::uint64_t top_;
  const bool once_;  // each key comes once
  const bool keys_only_;
  const std::uint64_t most_;  // candidates
  const std::uint64_t table_places_;
  const std::uint64_t record_room_;  // bytes
  os::buffer memory_;
  std::uint64_t filled_ = 0;  // bytes of memory_
  std::vector<candidate> kept_;
  std::vector<std::uint32_t> table_;  // by hash of the key: position in kept_ and 1; 0: free
  bool full_ = false;                 // last_ is valid
  bool overflowed_ = false;
  candidate last_;
  entry last_key_ = ~entry{0};
};

}  // namespace isotherm::sort
