// The first records of the order among those offered so far, in a bounded memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "os/memory/buffer.hpp"
#include "sort/plan/plan.hpp"
#include "sort/scan/record_in_memory.hpp"

namespace isotherm::sort {

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
  void offer(const record_in_memory& c) {
    if (layout_.entries().key(c.place) <= last_key_) consider(c);
  }
  /// Whether the records had no room; later offers are in vain.
  bool overflowed() const noexcept { return overflowed_; }
  /// Puts the first `top` into their order, and returns them.
  std::span<const record_in_memory> sorted();

 private:
  void consider(const record_in_memory& c);
  void keep(const record_in_memory& c);
  void shrink();
  bool has_room(const record_in_memory& c) const noexcept;
  std::uint32_t* slot_of(const record_in_memory& c) noexcept;

  const record_layout& layout_;
  const std::uint64_t top_;
  const bool once_;  // each key comes once
  const bool keys_only_;
  const std::uint64_t most_;  // candidates
  const std::uint64_t table_places_;
  const std::uint64_t record_room_;  // bytes
  os::buffer memory_;
  std::uint64_t filled_ = 0;  // bytes of memory_
  std::vector<record_in_memory> kept_;
  std::vector<std::uint32_t> table_;  // by hash of the key: position in kept_ and 1; 0: free
  bool full_ = false;                 // last_ is valid
  bool overflowed_ = false;
  record_in_memory last_;
  entry last_key_ = ~entry{0};
};

}  // namespace isotherm::sort
